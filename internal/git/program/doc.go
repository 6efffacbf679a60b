// Package program is the git program: one command of it with the settings, the
// environment and the error that all commands have in common. It hides what the
// user's configuration and environment could otherwise do to a command, and
// logins from arguments, messages and other processes.
package program
