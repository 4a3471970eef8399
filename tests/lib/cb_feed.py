"""Reads the feed page by page, and the transactions of an export to compare it with."""
import json

FEED = "/wallet-service/feed"
HISTORY = "/wallet-service/history"
CALLBACKS = "/wallet-service/callbacks"
RESEND = "/wallet-service/callbacks/resend"
PAGES_MAX = 10000


def exported(wallet, record="transaction"):
    """The rows of @record in an export, in the order of their keys."""
    path = wallet.dir / "feed-export"
    wallet.ctl("export", path)
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    path.unlink()
    return [row for row in rows if row.get("record") == record]


def shape(row):
    """The members that an item of the feed shares with the row of its transaction."""
    moved = row["entry_seq"] != 0 if "entry_seq" in row else "amount" in row
    amount = round(float(row["amount"]) * 10000) if moved else None
    return row["transaction_id"], row["kind"], row["player_id"], row.get("game_id", ""), amount


def read_all(ask, dealer, limit, after=0):
    """All items after @after, in pages of @limit. @ask calls the feed, and returns the answer."""
    items = []
    for _ in range(PAGES_MAX):
        page = ask(FEED, {"after": after, "limit": limit}, dealer)
        if len(page["items"]) > limit or page["next"] < after:
            raise AssertionError(f"a wrong page after {after}: {page}")
        items += page["items"]
        after = page["next"]
        if page["complete"]:
            return items
    raise AssertionError("the feed has no end")
