import base64
import io
import json
import os
import pathlib
import unittest

from creditbridge import (Callback, CallbackError, Callbacks, SignatureError, amount, decide, decode,
                          parse_callback, sign, units, verify)

DEFAULT = pathlib.Path(__file__).resolve().parents[3] / "doc" / "signature-vectors.json"
VECTORS = json.loads(pathlib.Path(os.environ.get("CREDITBRIDGE_VECTORS", DEFAULT)).read_bytes())
WEBHOOK = VECTORS["webhook"][0]
NOW = WEBHOOK["timestamp"]


def headers_of(row):
    return {"x-casino-signature": row["x-casino-signature"], "Webhook-Id": row["id"],
            "webhook-timestamp": str(row["timestamp"]), "webhook-signature": row["webhook-signature"]}


class Vectors(unittest.TestCase):
    def test_1_signatures(self):
        self.assertTrue(len(VECTORS["vectors"]) > 15 and len(VECTORS["other_schemes"]) == 5)
        for row in VECTORS["vectors"]:
            body = base64.b64decode(row["body_base64"]) * row["times"]
            self.assertEqual(sign(row["key"], body), row["signature"], row["name"])
            for text in (row["signature"], row["signature"].upper(),
                         base64.b64encode(bytes.fromhex(row["signature"])).decode()):
                verify(body, {"X-Casino-Signature": text}, row["key"], require_webhook=False)
        for row in VECTORS["other_schemes"]:
            body = row["body"].encode()
            self.assertEqual(sign(row["key"], body, row["algorithm"], row["encoding"]), row["signature"])
            verify(body, {"x-casino-signature": row["signature"]}, [row["key"]],
                   algorithm=row["algorithm"], require_webhook=False)

    def test_1_refused_spellings(self):
        for row in VECTORS.get("refused", ()):
            with self.assertRaises(SignatureError, msg=row["about"]):
                verify(row["body"].encode(), {"x-casino-signature": row["signature"]}, row["key"],
                       algorithm=row["algorithm"], require_webhook=False)

    def test_2_webhooks_with_each_key(self):
        for row in VECTORS["webhook"]:
            for keys in (row["keys"], row["keys"][::-1], row["keys"][0]):
                self.assertEqual(verify(row["body"].encode(), headers_of(row), keys, now=NOW),
                                 ("betting", row["id"], row["timestamp"]))

    def refused(self, reason, body=WEBHOOK["body"], keys=None, now=NOW, **changes):
        headers = {name.lower(): value for name, value in headers_of(WEBHOOK).items()}
        headers.update({name.replace("_", "-"): value for name, value in changes.items()})
        headers = {name: value for name, value in headers.items() if value is not None}
        with self.assertRaisesRegex(SignatureError, reason):
            verify(body.encode(), headers, keys or WEBHOOK["keys"], now=now)

    def test_3_what_is_refused(self):
        for now in (NOW + 300, NOW - 300):
            verify(WEBHOOK["body"].encode(), headers_of(WEBHOOK), WEBHOOK["keys"], now=now)
        good = WEBHOOK["x-casino-signature"]
        self.refused("300 s off", now=NOW + 301)
        self.refused("300 s off", now=NOW - 301)
        self.refused("other bytes", body=WEBHOOK["body"] + "\n")
        self.refused("another key", keys=["f" * 64])
        self.refused("missing", x_casino_signature=None)
        spelled = base64.b64encode(bytes.fromhex(good)).decode()
        # Other spellings of base64: without padding, with a bit that no encoder sets, with a line break.
        for text in ("", good[:62], good + ", x", "é" * 64, spelled[:-1], spelled + "\n", good + "\n",
                     spelled[:-2] + chr(ord(spelled[-2]) + 1) + "="):
            self.refused("x-casino-signature", x_casino_signature=text)
        for name in ("webhook_id", "webhook_timestamp", "webhook_signature"):
            self.refused("a webhook header", **{name: None})
        self.refused("webhook-signature", webhook_id="betting-18")
        self.refused("webhook-signature", webhook_timestamp=str(NOW + 1))
        self.refused("webhook-signature", webhook_signature="v2," + WEBHOOK["webhook-signature"][3:])
        self.refused("webhook-signature", webhook_signature=WEBHOOK["webhook-signature"][:-1])
        self.refused("malformed", webhook_timestamp="")
        with self.assertRaises(TypeError):
            verify(json.loads(WEBHOOK["body"]), headers_of(WEBHOOK), WEBHOOK["keys"])
        with self.assertRaises(ValueError):
            sign("", b"")

    def test_4_money(self):
        for text, count, canonical in (
                ("0", 0, "0"), ("12.50", 125000, "12.5"), ("0.0001", 1, "0.0001"), ("1e2", 1000000, "100"),
                ("99999999999.9999", 999999999999999, "99999999999.9999"), ("-3.25", -32500, "-3.25"),
                ("1.0000000", 10000, "1"), ("120e-1", 120000, "12")):
            self.assertEqual((units(text), amount(count)), (count, canonical), text)
        for text in ("", "1.", ".5", "1,5", "0.00001", "100000000000", "1e99", " 1", "0x1", "NaN", "1\n"):
            with self.assertRaises(ValueError, msg=text):
                units(text)
        for value in (0.3, 3):
            with self.assertRaises(TypeError):
                units(value)
        odd = ('{"bet_amount":0.30,"user_bet":{"bet_amount":1.10,"x":12345678901234567890},'
               '"bets":[{"bet_amount":1e1}],"remark":"5 \\" 6.50","balance":null,'
               '"transaction_id":9007199254740991}')
        self.assertEqual(decode(odd), {
            "bet_amount": "0.3", "user_bet": {"bet_amount": 1.1, "x": 12345678901234567890},
            "bets": [{"bet_amount": "10"}], "remark": '5 " 6.50', "balance": None,
            "transaction_id": 9007199254740991})
        for text in ("[1]", "{", '{"a":NaN}'):
            with self.assertRaises(ValueError):
                decode(text)
        with self.assertRaises(CallbackError):
            parse_callback("betting", WEBHOOK["body"].replace('"bet_amount":10', '"bet_amount":"10a"'))

    def test_5_a_body_of_another_callback(self):
        self.assertEqual(parse_callback("betting", WEBHOOK["body"])["bet_amount"], "10")
        for kind, words in (("betting-refund", "of another callback"), ("betting-result", "result")):
            with self.assertRaisesRegex(CallbackError, words):
                parse_callback(kind, WEBHOOK["body"])
        # The same by webhook-id, which names the callback.
        for path, wanted in (("/x/betting", b"betting"), ("/balance-inquire", b"webhook-id")):
            body = WEBHOOK["body"].encode()
            environ = {"PATH_INFO": path, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
            environ.update({"HTTP_" + name.upper().replace("-", "_"): value
                            for name, value in headers_of(WEBHOOK).items()})
            middleware = Callbacks(lambda environ, _: [environ["creditbridge.callback"].kind.encode()],
                                   WEBHOOK["keys"], now=NOW)
            self.assertIn(wanted, b"".join(middleware(environ, lambda *_: None)))

    def test_6_a_decrease(self):
        text = ('{"user_id":"alice","player_id":"p","game_id":"g","transaction_id":19,"correction_amount":-21.50,'
                '"previous_payout_amount":21.5,"payout_amount":0,"revision":1,"remark":"","timestamp":1}')
        body = parse_callback("betting-correction", text)
        self.assertEqual((body["correction_amount"], body["revision"]), ("-21.5", 1))
        for bad in (text.replace("-21.50", "21.5"), text.replace('"revision":1', '"result":"win"'),
                    text.replace('"remark"', '"bet_amount":1,"remark"')):
            with self.assertRaises(CallbackError):
                parse_callback("betting-correction", bad)
        callback = Callback("betting-correction", body)
        made = decide(callback, None, 40000, "thb")
        self.assertEqual((made.status, json.loads(made.json), made.balance),
                         (200, {"user_id": "alice", "balance": 0, "currency": "thb", "shortfall": 17.5}, 0))
        # A repeated call is answered the same shortfall, and moves nothing, whatever the player has by now.
        again = decide(callback, made.row, 900000, "thb")
        self.assertEqual((json.loads(again.json)["shortfall"], again.row, again.balance), (17.5, None, None))
        enough = decide(callback, None, 300000, "thb")
        self.assertEqual((json.loads(enough.json)["shortfall"], enough.balance), (0, 85000))
        self.assertEqual(decide(callback, {**made.row, "amount": 1}, 0, "thb").status, 409)
        self.assertEqual(decide(callback, {**made.row, "state": "bet"}, 0, "thb").status, 409)
        self.assertEqual(decide(callback, None, None, "thb").status, 404)


if __name__ == "__main__":
    unittest.main()
