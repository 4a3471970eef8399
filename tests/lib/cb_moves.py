"""Single steps of a move of a dealer, as an interrupted `creditbridgectl dealer move` has done them."""
from cb_codec import pack, unpack
from cb_link import Link
from cb_tap import equal
from cb_worker import refusal_of


def step(source, target, casino_id, action, name="b"):
    """Does a step in the ledger of @source. @name: of the cell of @target."""
    with Link(source.sockets / "admin.sock") as link:
        answer = unpack("dealer_move", link.call("dealer_move", pack(
            "dealer_move", action=action, casino_id=casino_id, id=f"{casino_id}-move", other=name,
            peer=(target.state / "installation").read_text().strip())).payload)
    equal(refusal_of(answer), "", f"{casino_id}: {action}")
