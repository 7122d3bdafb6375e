/* SPDX-License-Identifier: MIT */
/*
 * Standard input, output and error that whoever started us has closed.
 */
#ifndef PERFABI_STANDARD_H
#define PERFABI_STANDARD_H

/*
 * Takes the place of those that are closed, so that no file that is opened later gets their number:
 * what is printed would go into it. To read from or write to them fails as if they were closed.
 * 0 or a negative errno. For main() alone.
 */
int standard_hold(void);

#endif
