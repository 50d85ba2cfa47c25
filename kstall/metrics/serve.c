// SPDX-License-Identifier: GPL-2.0
/*
 * As little HTTP as a scrape needs: GET /metrics, one answer a connection, one connection at a
 * time, each with a second. What is longer or something else is refused.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "metrics/metric.h"

#define PATIENCE NSEC

/* "[::1]:9878", "127.0.0.1:9878" or ":9878" */
int ks_serve_open(const char *address)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				  .ai_socktype = SOCK_STREAM };
	char host[128], *port;
	struct addrinfo *ai;
	int fd, one = 1, err;

	ks_fmt(host, sizeof(host), "%s", address);
	port = strrchr(host, ':');
	if (!port)
		ks_die("--listen wants ADDRESS:PORT, not %s", address);
	*port++ = '\0';
	if (host[0] == '[' && port - host > 2 && port[-2] == ']') {
		port[-2] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	err = getaddrinfo(host[0] ? host : NULL, port, &hints, &ai);
	if (err)
		ks_die("--listen %s: %s", address, gai_strerror(err));
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 8))
		ks_die("--listen %s: %s", address, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

static bool ready(int fd, short events, u64 until)
{
	struct pollfd p = { fd, events };
	u64 now = ks_mono_ns();

	return now < until && poll(&p, 1, (until - now) / 1000000 + 1) > 0;
}

/* Its head, up to the empty line; false: it is too long, or does not come. */
static bool read_request(int fd, char *text, size_t room, u64 until)
{
	size_t len = 0;
	ssize_t n;

	text[0] = '\0';
	while (!strstr(text, "\r\n\r\n")) {
		if (len + 1 == room || !ready(fd, POLLIN, until))
			return false;
		n = recv(fd, text + len, room - len - 1, 0);
		if (n <= 0)
			return false;
		len += n;
		text[len] = '\0';
	}
	return true;
}

static void send_all(int fd, const char *text, size_t len, u64 until)
{
	ssize_t n;

	for (size_t at = 0; at < len && ready(fd, POLLOUT, until); at += n) {
		n = send(fd, text + at, len - at, MSG_NOSIGNAL);
		if (n <= 0)
			return;
	}
}

static bool is_path(const char *request)
{
	static const char start[] = "GET /metrics";
	size_t len = sizeof(start) - 1;

	return !strncmp(request, start, len) && strchr(" ?", request[len]);
}

static void answer(int fd, const char *request, char *(*page)(void *, bool, size_t *), void *priv)
{
	bool openmetrics = strcasestr(request, "application/openmetrics-text");
	char head[256], *text = NULL;
	size_t len = 0;
	u64 until;

	if (is_path(request))
		text = page(priv, openmetrics, &len);
	until = ks_mono_ns() + PATIENCE;	/* the client's, not what the page took */
	ks_fmt(head, sizeof(head),
	       "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
	       text ? "200 OK" : "404 Not Found",
	       !text ? "text/plain" : openmetrics ? "application/openmetrics-text; version=1.0.0" :
						    "text/plain; version=0.0.4", len);
	send_all(fd, head, strlen(head), until);
	if (text)
		send_all(fd, text, len, until);
	free(text);
}

void ks_serve_one(int listener, char *(*page)(void *, bool, size_t *), void *priv)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	u64 until = ks_mono_ns() + PATIENCE;
	char request[4096];

	if (fd < 0)
		return;
	if (read_request(fd, request, sizeof(request), until))
		answer(fd, request, page, priv);
	shutdown(fd, SHUT_WR);
	close(fd);
}
