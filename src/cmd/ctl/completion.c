/*
 * completion - implements `completion`: prints a bash completion generated from the table of
 * commands.
 *
 * The script completes the words of each command, its options, and files for arguments and for
 * options that take a file. It does not complete dealers and players, because that would ask the
 * ledger at each keystroke.
 */
#include "cmd/ctl/commands.h"

#include "base/buffer.h"
#include "cmd/ctl/common/output.h"

#include <stdio.h>
#include <string.h>

#define SCRIPT_MAX 65536

static const char head[] =
	"# bash completion of creditbridgectl and creditbridge-sweep,\n"
	"# made by `creditbridgectl completion`. shellcheck shell=bash\n"
	"\n"
	"# What the word under the cursor may be: one of $1, the options if it begins with -.\n"
	"_creditbridge_offer()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\n"
	"\t# Bash cuts --option=value into three words.\n"
	"\t[[ $word == = ]] && word=\n"
	"\t[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tcase $before in\n"
	"\t--config | --junit | --key-file) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
	"\t--logs) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
	"\t*) mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\") ;;\n"
	"\tesac\n"
	"}\n"
	"\n"
	"_creditbridgectl()\n"
	"{\n"
	"\tlocal command='' skip='' words='' word\n"
	"\tlocal options='--cell --config --json --tz --help --usage --version'\n"
	"\n"
	"\tfor word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
	"\t\tcase $skip$word in\n"
	"\t\t--cell | --config | --tz) skip=+ ;;\n"
	"\t\t+=) ;;\n"
	"\t\t+*) skip='' ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) command+=\"$word \" ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tcase $command in\n";
static const char tail[] =
	"\tesac\n"
	"\t[[ ${COMP_WORDS[COMP_CWORD]} == -* ]] && words=$options\n"
	"\t_creditbridge_offer \"$words\"\n"
	"}\n"
	"\n"
	"_creditbridge_sweep()\n"
	"{\n"
	"\t_creditbridge_offer '--config --for --dry-run --json --help --usage --version'\n"
	"}\n"
	"\n"
	"complete -o default -F _creditbridgectl creditbridgectl\n"
	"complete -o default -F _creditbridge_sweep creditbridge-sweep\n";

/* Returns true if the first @len bytes of both names are equal. */
static bool same_front(const struct ctl_command *one, const struct ctl_command *other, size_t len)
{
	return strncmp(one->name, other->name, len) == 0;
}

/* Appends the first words of all commands and the second words of each group. */
static void append_words(struct buffer *script)
{
	size_t len, last_len = 0;

	buffer_append_str(script, "\t'') words='");
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		len = strcspn(c->name, " ");
		/* The commands of a group are adjacent in the table. */
		if (c == ctl_commands || len != last_len || !same_front(c, c - 1, len))
			buffer_printf(script, "%s%.*s", c == ctl_commands ? "" : " ", (int)len,
				c->name);
		last_len = len;
	}
	buffer_append_str(script, "' ;;\n");
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		len = strcspn(c->name, " ");
		if (!c->name[len] || (c != ctl_commands && same_front(c, c - 1, len + 1)))
			continue;
		buffer_printf(script, "\t'%.*s ') words='", (int)len, c->name);
		for (const struct ctl_command *d = c; d->name && same_front(c, d, len + 1); d++)
			buffer_printf(script, "%s%s", d == c ? "" : " ", &d->name[len + 1]);
		buffer_append_str(script, "' ;;\n");
	}
}

static void append_options(struct buffer *script)
{
	for (const struct ctl_command *c = ctl_commands; c->name; c++) {
		if (!c->options)
			continue;
		buffer_printf(script, "\t'%s '*) options+='", c->name);
		for (const struct argp_option *option = c->options; option->name; option++)
			buffer_printf(script, " --%s", option->name);
		buffer_append_str(script, "' ;;\n");
	}
}

enum outcome ctl_completion(struct ctl *ctl)
{
	struct output_json json;
	struct buffer script;
	enum outcome code;

	buffer_init(&script, SCRIPT_MAX);
	buffer_append_str(&script, head);
	append_words(&script);
	append_options(&script);
	buffer_append_str(&script, tail);
	if (script.failed || !buffer_append(&script, "", 1)) {
		code = ctl_no_memory(ctl);
		goto out;
	}
	if (!ctl->json)
		fputs((const char *)script.data, stdout);
	output_json_open(&json, ctl);
	output_json_string(&json, "script", (const char *)script.data);
	code = output_json_close(&json);
out:
	buffer_free(&script);
	return code;
}
