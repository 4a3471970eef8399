"""Plays rounds by commands to the ledger, much faster than through game server and dealer."""
from cb_link import DONE, Link, request
from cb_worker import (SUCCESS, UNITS, UNKNOWN, WIN, bet_payload, end_payload, ended, placed, player_ref,
                       settle_payload, settled)

PENDING_MAX = 20  # bets placed before their ends are reported: the dealer's limit
WINDOW = 100  # frames sent without an answer
STAKE = 10 * UNITS
CLIENT = "fair"


class Rounds(Link):
    """Plays one player's rounds after another: the bet is accepted and the round is won. The
    first attempt of its betting-result fails, if one is begun; the sweeper does the rest."""

    def pipeline(self, command, payloads):
        """Returns the payloads of the answers."""
        answers = []
        payloads = list(payloads)
        for at in range(0, len(payloads), WINDOW):
            part = payloads[at:at + WINDOW]
            self.send(b"".join(request(command, payload) for payload in part))
            for _ in part:
                frame = self.frame()
                if frame.outcome != DONE:
                    raise AssertionError(f"{command}: outcome {frame.outcome}")
                answers.append(frame.payload)
        return answers

    def bets(self, casino_id, user_id, games):
        """Places a bet in each of @games; each must be accepted."""
        player = player_ref(casino_id, user_id)
        for at in range(0, len(games), PENDING_MAX):
            answers = self.pipeline("bet_place", (
                bet_payload(CLIENT, player, game_id, STAKE, reference=f"bet-{game_id}")
                for game_id in games[at:at + PENDING_MAX]))
            bets = [placed(answer) for answer in answers]
            refused = [bet for bet in bets if not bet.send.event]
            if refused:
                raise AssertionError(f"a bet was refused: {refused[0]}")
            for answer in self.pipeline("callback_end", (
                    end_payload(bet.send, casino_id, SUCCESS, status=200) for bet in bets)):
                refusal, _ = ended(answer)
                if refusal:
                    raise AssertionError(f"a bet was not accepted: {refusal}")

    def settle(self, casino_id, user_id, games):
        """Settles the rounds. Returns {event: due time in Unix ms} of those whose first attempt
        was begun here, and the other events, which were due at once."""
        player = player_ref(casino_id, user_id)
        begun, left = [], []
        for answer in self.pipeline("round_settle", (
                settle_payload(CLIENT, player, game_id, WIN, 2 * STAKE,
                               reference=f"result-{game_id}") for game_id in games)):
            made = settled(answer)
            if made.refusal:
                raise AssertionError(f"a result was refused: {made}")
            if made.send.event:
                begun.append(made.send)
            else:
                left.append(made.event)
        answers = self.pipeline("callback_end", (end_payload(send, casino_id, UNKNOWN)
                                                 for send in begun))
        due = {send.event: ended(answer)[1] for send, answer in zip(begun, answers)}
        return due, left
