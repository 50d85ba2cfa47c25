// SPDX-License-Identifier: GPL-2.0
#include "base/json.h"
#include "base/util.h"

void ks_json_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		u8 c = *s;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}
