/*
 * The simulated wallets: no seed finds a flaw, and every planted fault is found.
 *
 *   CB_SIM_SEEDS=N  runs N seeds instead of 1,000 (the tier full: 5,000)
 *   CB_SEED=N       runs only seed N
 *   CB_TRACE=1      with it: writes everything that happens to standard error
 */
#include "base/log.h"
#include "sim.h"
#include "tap.h"

#include <stdarg.h>

#define SEEDS     1000
#define PARTS     20 /* the seeds are run in so many cases */
#define SEEDS_MIN 40
#define SHARE     25 /* of the seeds, is run with something planted */

static struct world world;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Enough to find what is planted. */
static uint64_t share(void)
{
	uint64_t seeds = number("CB_SIM_SEEDS", SEEDS) / SHARE;

	return seeds < SEEDS_MIN ? SEEDS_MIN : seeds;
}

/* The ledger's log: nothing may go wrong there but what was made to. */
void __wrap_log_line(enum log_level level, const char *event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void __wrap_log_line(enum log_level level, const char *event, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	trace(&world, "log: %s %s", event, text);
	if (level == LOG_LEVEL_ERROR &&
		(!world.save_faults || !strstr(text, "a row cannot be loaded or added")))
		violate(&world, FLAW_ROWS, "the ledger logs %s %s", event, text);
}

static void expect_nothing(uint64_t seed)
{
	ck_assert_msg(world_run(&world, seed, PLANT_NOTHING) == FLAW_NONE,
		"seed %" PRIu64 ": %s (CB_SEED=%" PRIu64 " CB_TRACE=1 shows how)", seed, world.why,
		seed);
}

START_TEST(nothing_is_found)
{
	uint64_t seeds = number("CB_SIM_SEEDS", SEEDS);
	uint64_t first = 1 + seeds * (uint64_t)_i / PARTS;
	uint64_t behind = 1 + seeds * ((uint64_t)_i + 1) / PARTS;

	for (uint64_t seed = first; seed < behind; seed++)
		expect_nothing(seed);
}
END_TEST

START_TEST(nothing_is_found_again)
{
	world.trace = getenv("CB_TRACE") != NULL;
	expect_nothing(number("CB_SEED", 1));
}
END_TEST

/* So many seeds are tried at least, until a flaw that was planted is found. */
#define PLANT_SEEDS 400
#define FOUND(flaw) (1u << FLAW_##flaw)
/* What is planted, and as what it may be found; nothing: it is harmless. */
static const struct {
	const char *name;
	enum plant plant;
	unsigned int found;
} plants[] = {
	{"no fence", PLANT_NO_FENCE, FOUND(STAKE) | FOUND(EARLY)},
	{"an answer before the save", PLANT_EARLY_ANSWER, ~(FOUND(NONE) | FOUND(HARNESS))},
	{"no refund delay", PLANT_NO_REFUND_DELAY, FOUND(STAKE)},
	{"a dealer later than refund_delay", PLANT_LATE_DEALER, FOUND(STAKE)},
	{"the same with tombstones", PLANT_LATE_TOMBSTONE, 0},
	{"a worker stopped beyond its lease", PLANT_LONG_STOP, FOUND(STAKE) | FOUND(EARLY)},
	{"no compare-and-set", PLANT_NO_COMPARE, FOUND(ROWS) | FOUND(ANSWERED) | FOUND(STAKE)},
	{"the game server is answered early", PLANT_ANSWERED_EARLY, FOUND(ANSWERED)},
	{"a betting sent again", PLANT_SENT_AGAIN, FOUND(BET_SENT_TWICE)},
	{"other bytes", PLANT_OTHER_BYTES, FOUND(BYTES)},
	{"unknown is delivered", PLANT_UNKNOWN_IS_OK,
		FOUND(STAKE) | FOUND(PAYOUT) | FOUND(OVERTAKEN)},
	{"unknown is not sent", PLANT_UNKNOWN_IS_NO, FOUND(STAKE)},
	{"a forgetful dealer", PLANT_FORGETFUL_DEALER, FOUND(STAKE) | FOUND(PAYOUT)},
	{"no takeover", PLANT_NO_TAKEOVER, FOUND(STUCK)},
	{"a callback of a held dealer that starts", PLANT_HELD_STARTS, FOUND(HELD)},
	{"a grant again while held", PLANT_HELD_AGAIN, FOUND(HELD)},
	{"a seal without compare-and-set", PLANT_BLIND_SEAL, FOUND(ANSWERED) | FOUND(MONEY)},
	{"a cancellation without tombstone", PLANT_NO_TOMBSTONE, FOUND(CANCELLED)},
	{"a correction of any revision", PLANT_NO_REVISION, FOUND(REVISION)},
	{"a correction while a callback is open", PLANT_NO_OPEN_CHECK, FOUND(OVERTAKEN)},
	{"a decrease that is taken twice", PLANT_TAKES_TWICE, FOUND(PAYOUT)},
	{"a batch whose answers are not kept", PLANT_NO_BATCH_ROW, FOUND(ANSWERED)},
	{"an operator's correction that is not known again", PLANT_NO_OPERATION, FOUND(ANSWERED)},
};
#define PLANTS (sizeof(plants) / sizeof(plants[0]))

START_TEST(what_is_planted_is_found)
{
	/* Some flaws are rare: fewer seeds, as under sanitizers, do not make them more frequent. */
	const uint64_t seeds = plants[_i].found && share() < PLANT_SEEDS ? PLANT_SEEDS : share();
	enum flaw flaw = FLAW_NONE;
	uint64_t seed = 0;

	while (flaw == FLAW_NONE && seed < seeds)
		flaw = world_run(&world, ++seed, plants[_i].plant);
	if (!plants[_i].found) {
		ck_assert_msg(flaw == FLAW_NONE, "%s: seed %" PRIu64 ": %s", plants[_i].name, seed,
			world.why);
		return;
	}
	ck_assert_msg(plants[_i].found & 1u << flaw, "%s: seed %" PRIu64 ": %s", plants[_i].name,
		seed, flaw == FLAW_NONE ? "nothing is found" : world.why);
}
END_TEST

static void check_happenings(const struct tally *tally, uint64_t seeds)
{
	const struct {
		const char *name;
		uint64_t count;
		uint64_t least; /* of 100 seeds */
	} happenings[] = {
		{"kills", tally->kills, 50},
		{"reboots", tally->reboots, 5},
		{"deaths", tally->deaths, 100},
		{"stops", tally->stops, 100},
		{"takeovers", tally->takeovers, 50},
		{"bettings that came late", tally->lates, 50},
		{"bettings that came after their refund", tally->tombstones, 10},
		{"repeats that were refused as such", tally->repeats_refused, 10},
		{"refunds", tally->refunds, 100},
		{"parked callbacks", tally->parked, 3},
		{"operations", tally->operations, 30},
		{"held dealers", tally->holds, 10},
		{"conflicts", tally->conflicts, 20},
		{"open breakers", tally->breakers, 5},
		{"transfers that were made", tally->transfers[TRANSFER_DONE], 20},
		{"sealed transfers", tally->transfers[TRANSFER_SEALED], 3},
		{"bets that were cancelled", tally->cancelled, 20},
		{"bets that were cancelled before they came", tally->barred, 10},
		{"corrections", tally->corrections, 50},
		{"increases that a dealer paid", tally->increases, 10},
		{"decreases that a dealer took", tally->decreases, 10},
		{"shortfalls", tally->shortfalls, 3},
		{"corrections of operators", tally->by_operator, 10},
		{"results of batches", tally->items, 50},
		{"results of batches that were tried again", tally->items_again, 3},
		{"conflicts of revisions", tally->conflicts_of_revision, 5},
		{"corrections while a callback was open", tally->open, 10},
		{"settled bets", tally->bets[BET_SETTLED], 300},
		{"rejected bets", tally->bets[BET_REJECTED], 100},
		{"refunded bets", tally->bets[BET_REFUNDED], 100},
	};

	for (size_t i = 0; i < sizeof(happenings) / sizeof(happenings[0]); i++)
		ck_assert_msg(happenings[i].count * 100 >= happenings[i].least * seeds,
			"%" PRIu64 " %s in %" PRIu64 " seeds", happenings[i].count,
			happenings[i].name, seeds);
}

/* The seeds bring about what they are there for. */
START_TEST(everything_happens)
{
	uint64_t seeds = share();

	for (uint64_t seed = 1; seed <= seeds; seed++)
		expect_nothing(seed);
	check_happenings(&world.tally, seeds);
}
END_TEST

static Suite *sim_suite(void)
{
	Suite *suite = suite_create("sim");
	TCase *tc = tcase_create("sim");

	if (getenv("CB_SEED")) {
		tcase_add_test(tc, nothing_is_found_again);
	} else {
		tcase_add_loop_test(tc, nothing_is_found, 0, PARTS);
		tcase_add_loop_test(tc, what_is_planted_is_found, 0, (int)PLANTS);
		tcase_add_test(tc, everything_happens);
	}
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	Suite *(*const makers[])(void) = {sim_suite, NULL};

	return tap_main(makers);
}
