// Command reprise takes an issue through a pipeline of phases with coding agents.
//
// This package holds the cobra commands and their flags, and passes to the rooms
// what comes from the process: standard streams, environment and clock. Each
// subcommand is a function that returns a cobra.Command, and commands.go lists
// them all. A command reads its flags, calls a room and prints what that gives
// back. Rules about runs are in package phases; what is shown is written by
// internal/terminal and internal/page. On GitHub the hidden command "action"
// calls internal/bot.
//
// docs/architecture.md describes the rooms and which of them may import which.
package main
