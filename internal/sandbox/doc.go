// Package sandbox holds programs that somebody else wrote: it says what of the
// machine one may reach and use up, whatever it is told and whoever it runs as. A
// helper process puts the limits on itself and then becomes the program; Landlock,
// filters of system calls, namespaces and control groups keep them.
package sandbox
