/* SPDX-License-Identifier: GPL-2.0 */
struct rethook { struct { void *head; } pool; };
