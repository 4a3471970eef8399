"""Errors as wallets and frameworks of the trade answer them with HTTP status 200. None of them is the
error body of the contract, so the service takes most of them for success: the bet would be free.

Each is the name of what answers like that, the Content-Type, and the body of a bet above the balance.
"""
JSON = "application/json"
HTML = "text/html; charset=utf-8"

ERROR_FORMS = (
    ("status and message", JSON, '{"status":"error","message":"Insufficient balance"}'),
    ("code and msg", JSON, '{"code":1001,"msg":"insufficient balance","data":null}'),
    ("success false", JSON, '{"success":false,"errorCode":400,"errorMessage":"Insufficient funds."}'),
    ("error object", JSON, '{"error":{"code":"INSUFFICIENT_FUNDS","message":"Not enough money"}}'),
    ("JSON-RPC", JSON, '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Insufficient balance"}}'),
    ("GraphQL", JSON, '{"data":null,"errors":[{"message":"Insufficient balance","path":["bet"]}]}'),
    ("WordPress, wp_send_json_error()", JSON, '{"success":false,"data":[{"code":"no_credit","message":"No credit"}]}'),
    ("Laravel, a controller that returns an array", JSON,
     '{"message":"The bet amount is too high.","errors":{"bet_amount":["The bet amount is too high."]}}'),
    ("Laravel, an exception shown as JSON", JSON,
     '{"message":"Undefined index: balance","exception":"ErrorException","file":"Wallet.php","line":41,"trace":[]}'),
    ("Yii and others, name and code", JSON, '{"name":"Forbidden","message":"No credit","code":0,"status":403}'),
    ("Pragmatic Play", JSON, '{"error":1,"description":"Insufficient balance","cash":2.5,"currency":"THB"}'),
    ("Hub88, with a balance", JSON,
     '{"user":"bob","status":"RS_ERROR_NOT_ENOUGH_MONEY","request_uuid":"7","currency":"THB","balance":10000}'),
    ("AWC", JSON, '{"status":"1018","desc":"Not Enough Balance"}'),
    ("AMB SuperAPI", JSON, '{"id":"7","statusCode":10002,"timestampMillis":1700000000000,"productId":"x"}'),
    ("568Win, with a balance", JSON,
     '{"AccountName":"bob","Balance":2.5,"ErrorCode":5,"ErrorMessage":"Not enough balance"}'),
    ("JDB", JSON, '{"status":"6006","balance":2.5,"err_text":"Player balance is insufficient"}'),
    ("Joker", JSON, '{"Message":"Insufficient fund Bet, Withdraw","Status":100,"Balance":2.5}'),
    ("SA Gaming, XML", "text/xml",
     '<?xml version="1.0"?><RequestResponse><username>bob</username><error>1004</error></RequestResponse>'),
    ("an HTML error page", HTML, "<!DOCTYPE html><html><body><h1>Whoops, something went wrong.</h1></body></html>"),
    ("an empty body", HTML, ""),
    ("a PHP warning before an empty object", HTML, "<br />\n<b>Warning</b>: Undefined array key in bet.php\n{}"),
    ("false", JSON, "false"),
)
