/*
 * output_walk - the output of a command that several cells are asked for.
 */
#include "cmd/ctl/common/output.h"

#include <stdio.h>

void output_walk_open(struct output_walk *walk, struct ctl *ctl)
{
	*walk = (struct output_walk){.listing = false};
	output_json_open(&walk->errors, ctl);
	buffer_reset(&walk->errors.text);
	ctl->walk = walk;
}

void output_walk_fail(struct ctl *ctl, struct output_json *error)
{
	struct output_json item;

	output_json_open(&item, ctl);
	output_json_string(&item, "cell", ctl->cell);
	output_json_object(&item, "error", error);
	output_json_item_object(&ctl->walk->errors, &item);
	if (!ctl->walk->first_error)
		ctl->walk->first_error = ctl->walk->errors.text.len;
}

void output_walk_errors(struct output_walk *walk)
{
	printf("%.*s", (int)walk->errors.text.len, (const char *)walk->errors.text.data);
}

void output_walk_object(struct ctl *ctl, const struct buffer *object)
{
	printf("%s{\"cell\":\"%s\"%s%.*s", ctl->walk->objects++ ? "," : "{\"cells\":[", ctl->cell,
		object->len > 2 ? "," : "", (int)object->len - 1, (const char *)object->data + 1);
}

/* Ends the objects; those of cells that could not be asked are the last. */
static void end_objects(struct output_walk *walk)
{
	if (!walk->objects && !walk->errors.comma)
		return;
	/* None could be asked: the first failure is that of the command. */
	if (!walk->objects)
		printf("%.*s,\"not_asked\":[", (int)walk->first_error - 1,
			(const char *)walk->errors.text.data);
	else if (walk->errors.comma)
		printf(",");
	output_walk_errors(walk);
	printf("]}\n");
}

enum outcome output_walk_close(struct ctl *ctl, bool none)
{
	struct output_walk *walk = ctl->walk;
	enum outcome code = OUTCOME_DONE;

	if (walk->listing && none && ctl->json) {
		walk->list.walked = false;
		output_list_close(&walk->list, OUTCOME_FAILED);
		end_objects(walk);
	} else if (walk->listing) {
		walk->list.walked = false;
		walk->list.more = walk->cut;
		walk->list.total = 0;
		code = output_list_close(&walk->list, code);
	} else if (ctl->json) {
		end_objects(walk);
	}
	if (walk->errors.text.failed)
		code = ctl_no_memory(ctl);
	buffer_free(&walk->errors.text);
	ctl->walk = NULL;
	return code;
}

void output_walk_drop(struct ctl *ctl)
{
	struct output_walk *walk = ctl->walk;

	if (walk->listing) {
		walk->list.walked = false;
		output_list_close(&walk->list, OUTCOME_USAGE);
	}
	buffer_free(&walk->errors.text);
	ctl->walk = NULL;
}
