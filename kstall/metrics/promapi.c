// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>
#include <json-c/json.h>

#include "base/util.h"
#include "metrics/promapi.h"

#define PATIENCE 30L		/* seconds */
#define MOST (64 << 20)		/* bytes of an answer */

struct ks_prom {
	CURL *curl;
	const char *url;
	char error[CURL_ERROR_SIZE];
};

struct ks_answer {
	struct json_object *all, *result;
};

struct text {
	char *at;
	size_t len, room;
};

static size_t receive(char *data, size_t size, size_t n, void *priv)
{
	struct text *t = priv;

	if (t->len + size * n >= MOST)
		return 0;
	t->at = ks_grow(t->at, &t->room, t->len + size * n + 1, 1);
	memcpy(t->at + t->len, data, size * n);
	t->len += size * n;
	t->at[t->len] = '\0';
	return size * n;
}

struct ks_prom *ks_prom_open(const char *url)
{
	struct ks_prom *p = ks_alloc(sizeof(*p));

	p->url = url;
	p->curl = curl_easy_init();
	if (!p->curl)
		ks_die("out of memory");
	curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, p->error);
	curl_easy_setopt(p->curl, CURLOPT_TIMEOUT, PATIENCE);
	curl_easy_setopt(p->curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, receive);
	return p;
}

void ks_prom_close(struct ks_prom *p)
{
	curl_easy_cleanup(p->curl);
	free(p);
}

static struct json_object *get(struct json_object *o, const char *key, enum json_type type)
{
	struct json_object *v = NULL;

	if (!o || !json_object_is_type(o, json_type_object) ||
	    !json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, type))
		return NULL;
	return v;
}

static const char *string(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key, json_type_string);

	return v ? json_object_get_string(v) : "";
}

static struct ks_answer *parse(const struct ks_prom *p, const char *text)
{
	struct ks_answer *a = ks_alloc(sizeof(*a));
	struct json_object *data;

	a->all = text ? json_tokener_parse(text) : NULL;
	if (!a->all)
		ks_die("%s does not answer like a Prometheus", p->url);
	if (strcmp(string(a->all, "status"), "success"))
		ks_die("%s: %s", p->url, string(a->all, "error"));
	data = get(a->all, "data", json_type_object);
	a->result = get(data, "result", json_type_array);
	if (!a->result || strcmp(string(data, "resultType"), "vector"))
		ks_die("%s does not answer with a vector", p->url);
	return a;
}

struct ks_answer *ks_prom_ask(struct ks_prom *p, const char *query)
{
	char *quoted = curl_easy_escape(p->curl, query, 0);
	size_t room = strlen(p->url) + strlen(quoted) + 64;
	struct text t = { 0 };
	char *url = ks_fmt(ks_alloc(room), room, "%s/api/v1/query?query=%s", p->url, quoted);
	struct ks_answer *a;
	CURLcode err;

	curl_easy_setopt(p->curl, CURLOPT_URL, url);
	curl_easy_setopt(p->curl, CURLOPT_WRITEDATA, &t);
	p->error[0] = '\0';
	err = curl_easy_perform(p->curl);
	if (err)
		ks_die("%s: %s", p->url, p->error[0] ? p->error : curl_easy_strerror(err));
	a = parse(p, t.at);
	free(t.at);
	free(url);
	curl_free(quoted);
	return a;
}

void ks_answer_free(struct ks_answer *a)
{
	json_object_put(a->all);
	free(a);
}

size_t ks_answer_size(const struct ks_answer *a)
{
	return json_object_array_length(a->result);
}

const char *ks_answer_label(const struct ks_answer *a, size_t i, const char *label)
{
	return string(get(json_object_array_get_idx(a->result, i), "metric", json_type_object),
		      label);
}

double ks_answer_value(const struct ks_answer *a, size_t i)
{
	struct json_object *v = get(json_object_array_get_idx(a->result, i), "value",
				    json_type_array);

	v = v ? json_object_array_get_idx(v, 1) : NULL;
	return v ? strtod(json_object_get_string(v), NULL) : 0;
}
