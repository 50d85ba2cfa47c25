// SPDX-License-Identifier: GPL-2.0
#include "base/json.h"
#include "base/util.h"

void ks_json_string(FILE *out, const char *s)
{
	fputc('"', out);
	while (*s) {
		size_t len = ks_utf8_len(s);

		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (!len)
			fputs(KS_NO_CHARACTER, out);
		else if (ks_is_control(s))
			fprintf(out, "\\u%04x", (u8)s[len - 1]);
		else
			fwrite(s, len, 1, out);
		s += len ? len : 1;
	}
	fputc('"', out);
}
