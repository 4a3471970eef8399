#include "conformance/choose.h"

#include "conformance/judge.h"

#include <string.h>

static bool has_step(const struct exam_case *case_, bool (*fits)(const struct exam_step *step))
{
	const struct exam_step *step = case_->steps;

	while (step->action != EXAM_END && !fits(step))
		step++;
	return step->action != EXAM_END;
}

static bool is_several(const struct exam_step *step)
{
	return step->way == WAY_COPIES || step->way == WAY_MANY;
}

static bool is_lower(const struct exam_step *step)
{
	return step->action == EXAM_LOWER;
}

static bool is_restart(const struct exam_step *step)
{
	return step->action == EXAM_RESTART;
}

void exam_skip(const struct exam *exam, const struct exam_case *case_, char *why)
{
	if (exam->dealer.decimals < case_->decimals)
		exam_say(why, "the dealer's credit has %u decimals",
			(unsigned int)exam->dealer.decimals);
	else if (has_step(case_, is_several) && exam->copies < 2)
		exam_say(why, "the dealer takes one call at a time");
	else if (has_step(case_, is_lower) && !exam->targets[CALLBACK_BETTING_CORRECTION].path[0])
		exam_say(why, "the dealer has no path for betting-correction");
	else if (has_step(case_, is_restart) && !exam->restart)
		exam_say(why,
			"give --restart-command, or begin the test at a terminal without --yes");
}

static const struct exam_row *find_row(const struct exam *exam, const char *name)
{
	for (unsigned int i = 0; i < exam->count; i++) {
		if (strcmp(exam->rows[i].name, name) == 0)
			return &exam->rows[i];
	}
	return NULL;
}

const char *exam_cause(struct exam *exam, const struct exam_case *case_)
{
	const struct exam_row *first = &exam->rows[0];
	const struct exam_row *need;

	if (exam->lost && exam_ask(exam))
		exam->lost = NULL;
	if (exam->lost)
		return exam->lost;
	if (exam->late && case_->steps[0].action == EXAM_PACE)
		return exam->late;
	if (first->result == EXAM_FAILED)
		return first->name;
	for (const char *const *name = case_->needs; *name; name++) {
		need = find_row(exam, *name);
		if (need && need->result == EXAM_FAILED)
			return need->name;
		if (need && need->result == EXAM_NOT_JUDGED)
			return need->cause;
	}
	return NULL;
}

/* Returns true if @name is in the list @names, which has commas between names. */
static bool list_has(const char *names, const char *name)
{
	size_t len = strlen(name);

	while (names) {
		if (strncmp(names, name, len) == 0 && (names[len] == ',' || !names[len]))
			return true;
		names = strchr(names, ',');
		names = names ? names + 1 : NULL;
	}
	return false;
}

bool exam_is_chosen(const struct exam *exam, const struct exam_row *row)
{
	if (!exam->only || row == exam->rows || list_has(exam->only, row->name))
		return true;
	/* A case needs only earlier ones. */
	for (const struct exam_row *later = row + 1; later < exam->rows + exam->count; later++) {
		if (list_has(later->needs, row->name) && exam_is_chosen(exam, later))
			return true;
	}
	return false;
}

bool exam_only_ok(const struct exam *exam, const char *name)
{
	return find_row(exam, name);
}
