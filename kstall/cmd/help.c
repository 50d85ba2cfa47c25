// SPDX-License-Identifier: GPL-2.0
/* What is made of the table of options: --help, words for the completion, lists for the manual pages. */
#include <string.h>

#include "cmd/options.h"

#define COLUMN 28
#define WIDTH 80

/* The options of a command, or of all those below it. */
static u32 whose(const struct ks_command *c)
{
	u32 of = c->of;

	for (const struct ks_command *sub = c->sub; sub && sub->name; sub++)
		of |= sub->of;
	return of;
}

/* @text from column @at on, the following lines from COLUMN on. */
static void wrap(FILE *out, int at, const char *text)
{
	if (at >= COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", COLUMN - at, "");
	at = COLUMN;
	while (*text) {
		int n = strcspn(text, " ");

		if (at > COLUMN && at + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", COLUMN, "");
			at = COLUMN;
		}
		at += fprintf(out, "%s%.*s", at > COLUMN ? " " : "", n, text);
		text += n + (text[n] == ' ');
	}
	fputc('\n', out);
}

static void help_option(FILE *out, const struct ks_option *opt)
{
	char text[640], letter[8] = "    ";
	int at;

	if (opt->letter)
		ks_fmt(letter, sizeof(letter), "-%c, ", opt->letter);
	at = fprintf(out, "  %s--%s%s%s", letter, opt->name, opt->arg ? " " : "", opt->arg ? opt->arg : "");
	ks_fmt(text, sizeof(text), opt->initial ? "%s (default: %s)" : "%s", opt->what, opt->initial);
	wrap(out, at, text);
}

/* "status" of "recorder status" */
static const char *last_word(const char *name)
{
	const char *blank = strrchr(name, ' ');

	return blank ? blank + 1 : name;
}

static void help_commands(FILE *out, const struct ks_command *list)
{
	for (const struct ks_command *c = list; c->name; c++)
		fprintf(out, "  %-12s %s\n", last_word(c->name), c->what);
}

void ks_help(FILE *out, const struct ks_command *c)
{
	if (!c) {
		fputs("usage: kstall COMMAND [OPTION ...]\n\n", out);
		help_commands(out, ks_commands);
		fputs("\nkstall COMMAND --help has the options.\n"
		      "kstall-doctor(8) says what works on this machine.\n", out);
		return;
	}
	fprintf(out, "usage: kstall %s%s [OPTION ...]%s%s\n\n%s\n\n", c->name, c->sub ? " COMMAND" : "",
		c->args ? " " : "", c->args ? c->args : "", c->what);
	if (c->sub) {
		help_commands(out, c->sub);
		fputc('\n', out);
	}
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if (opt->of & whose(c))
			help_option(out, opt);
	}
}

void ks_print_words(const struct ks_command *c)
{
	const struct ks_command *list = c ? c->sub : ks_commands;

	for (; list && list->name; list++)
		puts(last_word(list->name));
	if (!c || c->sub)
		return;
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if (!(opt->of & c->of))
			continue;
		if (opt->letter)
			printf("-%c\n", opt->letter);
		printf("--%s\n", opt->name);
	}
	if (c->starts)
		puts("--");
}

/* Where nothing is a request or an escape. */
static void roff(const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			putchar('\\');
		fputs(*text == '~' ? "\\(ti" : (char []){ *text, '\0' }, stdout);
	}
}

static void roff_name(char letter, const char *name, const char *arg)
{
	fputs("\\fB\\-", stdout);
	if (letter)
		putchar(letter);
	else
		fputs("\\-", stdout);
	roff(name);
	fputs("\\fR", stdout);
	if (arg)
		printf(" \\fI%s\\fR", arg);
}

void ks_print_man(const struct ks_command *c)
{
	for (const struct ks_option *opt = ks_option_table; opt->name; opt++) {
		if (!(opt->of & whose(c)))
			continue;
		puts(".TP");
		if (opt->letter) {
			roff_name(opt->letter, "", opt->arg);
			fputs(", ", stdout);
		}
		roff_name(0, opt->name, opt->arg);
		putchar('\n');
		roff(opt->what);
		if (opt->initial) {
			fputs(" (default: ", stdout);
			roff(opt->initial);
			putchar(')');
		}
		putchar('\n');
	}
}
