// Package process runs programs that somebody else wrote: a program has its own
// session, time limits and bounded output, and when it is over, every process
// that it started is over, too.
package process
