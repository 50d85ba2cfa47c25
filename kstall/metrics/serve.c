// SPDX-License-Identifier: GPL-2.0
/*
 * As little HTTP as a scrape needs: GET or HEAD of /metrics, one answer a connection. All clients are served by one poll loop, so
 * nobody waits for one that is idle or slow. None is cut off by a clock: where there is no room or no file, the longest-connected goes.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/metric.h"

#define CLIENTS 16
#define REQUEST 16384		/* tokens in headers are long */
#define SPARE 4			/* files that no client takes: a pass needs some */

struct client {
	int fd;			/* -1: none */
	u64 number;		/* in the order of arrival */
	size_t len;
	char request[REQUEST + 1];
	char *answer;		/* NULL: the request is not whole yet */
	size_t answer_len, sent;
};

struct ks_server {
	int listener;
	u64 arrived;
	ks_page_fn page;
	void *priv;
	struct client client[CLIENTS];
};

static struct addrinfo *resolve(const char *address)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *ai = NULL;
	char host[128], *port;
	int number;

	ks_fmt(host, sizeof(host), "%s", address);
	port = strrchr(host, ':');
	if (!port)
		return NULL;
	*port++ = '\0';
	/* getaddrinfo() takes any number, and binds to what is left of it in 16 bits. */
	number = strlen(port) <= 5 && strspn(port, "0123456789") == strlen(port) ? atoi(port) : 0;
	if (number < 1 || number > 65535)
		return NULL;
	if (host[0] == '[' && port - host > 2 && port[-2] == ']') {
		port[-2] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	return getaddrinfo(host[0] ? host : NULL, port, &hints, &ai) ? NULL : ai;
}

struct ks_server *ks_serve_open(const char *address, ks_page_fn page, void *priv)
{
	struct addrinfo *ai = resolve(address);
	struct ks_server *s;
	int fd, one = 1;

	if (!ai)
		return NULL;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 128))
		ks_die("--listen %s: %s", address, strerror(errno));
	freeaddrinfo(ai);
	s = ks_alloc(sizeof(*s));
	s->listener = fd;
	s->page = page;
	s->priv = priv;
	for (size_t i = 0; i < CLIENTS; i++)
		s->client[i].fd = -1;
	return s;
}

static void drop(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->answer);
	c->fd = -1;
	c->answer = NULL;
}

void ks_serve_close(struct ks_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < CLIENTS; i++)
		drop(&s->client[i]);
	close(s->listener);
	free(s);
}

static bool is_request(const char *request, const char *method)
{
	static const char path[] = " /metrics";
	size_t len = strlen(method);

	return !strncmp(request, method, len) && !strncmp(request + len, path, sizeof(path) - 1) &&
	       strchr(" ?", request[len + sizeof(path) - 1]);
}

/* @text, or nothing of it for HEAD, under its head */
static void answer_with(struct client *c, const char *status, const char *type, const char *text,
			size_t len, bool head_only)
{
	char head[256];
	size_t head_len;

	ks_fmt(head, sizeof(head),
	       "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
	       status, type, len);
	head_len = strlen(head);
	c->answer_len = head_len + (head_only ? 0 : len);
	c->answer = ks_alloc(c->answer_len);
	c->sent = 0;
	memcpy(c->answer, head, head_len);
	memcpy(c->answer + head_len, text, c->answer_len - head_len);
}

static void answer(struct ks_server *s, struct client *c)
{
	bool head = is_request(c->request, "HEAD");
	bool openmetrics = strcasestr(c->request, "application/openmetrics-text");
	size_t len;
	char *text;

	if (!head && !is_request(c->request, "GET")) {
		answer_with(c, "404 Not Found", "text/plain", "", 0, false);
		return;
	}
	text = s->page(s->priv, openmetrics, &len);
	answer_with(c, "200 OK", openmetrics ? "application/openmetrics-text; version=1.0.0" :
					       "text/plain; version=0.0.4", text, len, head);
	free(text);
}

/* A request, or what a client still sends after its answer: closed with that unread, the answer could be lost. */
static void receive(struct ks_server *s, struct client *c)
{
	size_t room = c->answer ? REQUEST : REQUEST - c->len;
	char *at = c->request + (c->answer ? 0 : c->len);
	ssize_t n = recv(c->fd, at, room, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	if (c->answer)
		return;
	c->len += n;
	c->request[c->len] = '\0';
	if (memmem(c->request, c->len, "\r\n\r\n", 4))
		answer(s, c);
	else if (c->len == REQUEST)
		answer_with(c, "431 Request Header Fields Too Large", "text/plain", "", 0, false);
}

static void transmit(struct client *c)
{
	ssize_t n = send(c->fd, c->answer + c->sent, c->answer_len - c->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		drop(c);
		return;
	}
	c->sent += n;
	if (c->sent == c->answer_len)
		shutdown(c->fd, SHUT_WR);
}

static bool is_sending(const struct client *c)
{
	return c->answer && c->sent < c->answer_len;
}

/* Sends the longest-connected away; false: there is nobody. */
static bool drop_oldest(struct ks_server *s)
{
	struct client *oldest = NULL;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd >= 0 && (!oldest || c->number < oldest->number))
			oldest = c;
	}
	if (oldest)
		drop(oldest);
	return oldest;
}

static struct client *unused(struct ks_server *s)
{
	for (size_t i = 0; i < CLIENTS; i++) {
		if (s->client[i].fd < 0)
			return &s->client[i];
	}
	return NULL;
}

static bool leaves_spare(int fd)
{
	int spare[SPARE], nr = 0;

	while (nr < SPARE && (spare[nr] = fcntl(fd, F_DUPFD_CLOEXEC, 0)) >= 0)
		nr++;
	for (int i = 0; i < nr; i++)
		close(spare[i]);
	return nr == SPARE;
}

/* accept() has failed with @err: the client is still there, so poll() does not wait. */
static void make_room(struct ks_server *s, int err)
{
	bool scarce = err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;

	if (scarce && !drop_oldest(s))
		poll(NULL, 0, 100);
}

static void welcome(struct ks_server *s)
{
	int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *c;

	if (fd < 0) {
		make_room(s, errno);
		return;
	}
	if (!unused(s))
		drop_oldest(s);
	while (!leaves_spare(fd) && drop_oldest(s))
		;
	c = unused(s);
	c->fd = fd;
	c->number = s->arrived++;
	c->len = 0;
}

void ks_serve(struct ks_server *s, int ms)
{
	/* No more than are open: poll() takes no more than RLIMIT_NOFILE. */
	struct pollfd p[CLIENTS + 1] = { { s->listener, POLLIN } };
	struct client *client[CLIENTS + 1];
	nfds_t nr = 1;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0)
			continue;
		client[nr] = c;
		p[nr++] = (struct pollfd){ c->fd, is_sending(c) ? POLLOUT : POLLIN };
	}
	if (poll(p, nr, ms) <= 0)
		return;
	for (nfds_t i = 1; i < nr; i++) {
		if (!p[i].revents)
			continue;
		if (is_sending(client[i]))
			transmit(client[i]);
		else
			receive(s, client[i]);
	}
	/* The last: a client that has asked is answered before it may have to go. */
	if (p[0].revents)
		welcome(s);
}
