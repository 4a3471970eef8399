"""The judge of the campaign `restore`: what is wrong at the end, each fault with its kind.

What the campaign is for are faults of the kinds ID (an id that names two things) and UNPAID (a win that was
acknowledged and not paid), which follow from each other: a dealer pays no id twice.
"""
import collections

from game import UNITS

ID, UNPAID, PAID_TWICE, STAKE, BALANCE, OPEN = "id", "unpaid", "paid-twice", "stake", "balance", "open"


class Fault(collections.namedtuple("Fault", "kind text")):
    def __str__(self):
        return f"{self.kind}: {self.text}"


def contradiction(row, text):
    """The fault of a difference that `reconcile` can only ask the dealer about. With one id and two amounts, it is
    an id that names two things."""
    both = row["our_state"] and row["their_state"]
    return Fault(ID if both and row["our_amount"] != row["their_amount"] else OPEN, text)


def judge_round(one, dealer):
    """The kind of what is wrong with a round at its dealer, and what it is; None when nothing is."""
    bets = [bet for bet in dealer.bets.values() if bet.game_id == one.game_id]
    staked = sum(bet.units for bet in bets)
    returned = sum(bet.returned for bet in bets)
    paid = sum(payment.units for payment in dealer.payments.values()
               if payment.game_id == one.game_id) + dealer.by_hand.get(one.game_id, 0)
    # A repeated bet call may have made two bets: all but one are returned.
    extra = staked - one.units if len(bets) > 1 else 0
    if one.won():
        if paid < one.payout:
            return UNPAID, f"{paid} of {one.payout}"
        if paid > one.payout:
            return PAID_TWICE, f"{paid} of {one.payout}"
        return None if returned == extra else (STAKE, f"returned beside a win: {returned}")
    if one.result == "" and one.word == "refund":
        return None if returned + paid == staked else (STAKE, f"of {staked} returned as {returned + paid}")
    if one.result == "" and one.word == "loss":
        return None if (returned, paid) == (extra, 0) else (STAKE, f"lost, and {returned} + {paid} returned")
    # No result was acknowledged: the stake is with the player, once.
    return None if returned + paid == staked else (STAKE, f"no result, {staked} staked, {returned} + {paid} back")


def judge_world(scene):
    """The faults at the dealers: what the campaign's bar is 0 of."""
    faults = []
    for server in scene.games:
        for one in server.rounds:
            wrong = judge_round(one, scene.dealers[one.player.casino_id])
            if wrong:
                faults.append(Fault(wrong[0], f"{one.game_id} (life {one.life}, {one.word}, bet {one.bet!r}, "
                                              f"result {one.result!r}): {wrong[1]}"))
    for dealer in scene.dealers.values():
        faults += [Fault(ID, f"{number} names {first} and {then}") for number, first, then in dealer.reused]
    balances = dict.fromkeys(scene.bank.users, 0)
    for one in scene.bank.transfers[scene.bank_begin:]:
        if one.done():
            balances[one.user_id] += -one.units if one.out else one.units
    for user, units in balances.items():
        shown = scene.wallet.ctl_json("player", "show", "bank", user)["balance"]
        if round(shown * UNITS) != units:
            faults.append(Fault(BALANCE, f"of {user}: {shown}, its transfers make {units / UNITS}"))
    return faults


def judge_ids(scene):
    """Ids in the game servers' and the bank's answers that name two things."""
    names = {}
    faults = []

    def name(number, thing):
        if number and names.setdefault(number, thing) != thing:
            faults.append(Fault(ID, f"{number} names {names[number]} and {thing}"))
    for server in scene.games:
        for one in server.rounds:
            if one.bet == "":
                name(one.bet_id, ("bet", one.game_id))
            if one.result == "":
                name(one.result_id, ("result", one.game_id))
    for one in scene.bank.transfers:
        if one.done():
            name(one.transaction_id, ("transfer", one.reference))
    return faults


def judge(scene):
    return judge_world(scene) + judge_ids(scene) + scene.contradictions
