/* SPDX-License-Identifier: GPL-2.0 */
/* A list within its elements, which can be in several: @next and @prev are the members of this one. */
#ifndef KSTALL_LIST_H
#define KSTALL_LIST_H

/* @elem becomes the first. */
#define ks_list_insert(head, elem, next, prev)			\
	do {							\
		(elem)->next = *(head);				\
		(elem)->prev = (head);				\
		if (*(head))					\
			(*(head))->prev = &(elem)->next;	\
		*(head) = (elem);				\
	} while (0)

#define ks_list_remove(elem, next, prev)			\
	do {							\
		*(elem)->prev = (elem)->next;			\
		if ((elem)->next)				\
			(elem)->next->prev = (elem)->prev;	\
	} while (0)

#endif
