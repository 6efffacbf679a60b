package main

import (
	"slices"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/phases"
)

// slashSpec describes a command.
type slashSpec struct {
	Name   string
	Args   []slashParam // in this order
	Flags  []slashParam // before or behind the arguments, and before the text
	Text   slashText
	Role   github.Role // least right that it takes, unless configured
	Run    bool        // there has to be a run
	Now    bool        // answered at once, also while a run is at work
	Shared bool        // other programs know the name, too: without a run it is for them
}

// slashText says whether a command takes text.
type slashText int

const (
	slashNoText slashText = iota
	slashMayText
	slashMustText
)

// slashParam is an argument or a flag.
type slashParam struct {
	Name     string // of a flag, without hyphens
	Kind     slashKind
	Optional bool // for arguments; flags always are

	// field gives where its value is kept: a *string, *bool, *float64, *int,
	// *int64, *time.Duration or *[]string.
	field func(*slashCommand) any
}

// slashTable lists every command, in the order people see them.
func slashTable() []slashSpec {
	phase := slashParam{Kind: slashPhase, field: func(c *slashCommand) any { return &c.Phase }}
	maybePhase := slashParam{Kind: slashPhase, Optional: true, field: phase.field}
	more := []slashParam{
		{Name: string(phases.LimitUSD), Kind: slashUSD, field: func(c *slashCommand) any { return &c.More.USD }},
		{Name: string(phases.LimitTokens), Kind: slashCount, field: func(c *slashCommand) any { return &c.More.Tokens }},
		{Name: string(phases.LimitTime), Kind: slashTime, field: func(c *slashCommand) any { return &c.More.Time }},
		{Name: string(phases.LimitAttempts), Kind: slashCount, field: func(c *slashCommand) any { return &c.More.Attempts }},
	}
	return []slashSpec{
		{Name: "run", Role: github.RoleWrite, Flags: slices.Concat([]slashParam{
			{Name: "pipeline", Kind: slashPipeline, field: func(c *slashCommand) any { return &c.Pipeline }},
			{Name: "from", Kind: slashPhase, field: func(c *slashCommand) any { return &c.From }},
			{Name: "until", Kind: slashPhase, field: func(c *slashCommand) any { return &c.Until }},
			{Name: "only", Kind: slashPhase, field: func(c *slashCommand) any { return &c.Only }},
			{Name: "skip", Kind: slashPhases, field: func(c *slashCommand) any { return &c.Skip }},
			{Name: "agent", Kind: slashAgent, field: func(c *slashCommand) any { return &c.Agent }},
			{Name: "refresh", Kind: slashSwitch, field: func(c *slashCommand) any { return &c.Refresh }},
			{Name: "refresh-issue", Kind: slashSwitch, field: func(c *slashCommand) any { return &c.RefreshIssue }},
		}, more)},
		{
			Name: "rollback", Role: github.RoleWrite, Run: true, Text: slashMustText,
			Args: []slashParam{{Kind: slashPhaseStep, field: phase.field}},
			Flags: []slashParam{
				{Name: "restore", Kind: slashSwitch, field: func(c *slashCommand) any { return &c.Restore }},
				{Name: "dry-run", Kind: slashSwitch, field: func(c *slashCommand) any { return &c.DryRun }},
			},
		},
		{Name: "retry", Role: github.RoleWrite, Run: true, Args: []slashParam{maybePhase}, Flags: more},
		{Name: "resume", Role: github.RoleWrite, Run: true, Flags: more},
		{Name: "pause", Role: github.RoleWrite, Run: true, Shared: true, Text: slashMayText},
		{Name: "cancel", Role: github.RoleWrite, Run: true, Text: slashMayText},
		{Name: "approve", Role: github.RoleWrite, Run: true, Shared: true, Args: []slashParam{
			maybePhase,
			{Kind: slashCommit, Optional: true, field: func(c *slashCommand) any { return &c.Commit }},
		}},
		{Name: "reject", Role: github.RoleMaintain, Run: true, Shared: true, Args: []slashParam{phase}, Text: slashMustText},
		{Name: "answer", Role: github.RoleWrite, Run: true, Shared: true, Text: slashMustText, Args: []slashParam{
			{Kind: slashQuestion, Optional: true, field: func(c *slashCommand) any { return &c.Question }},
		}},
		{Name: "skip", Role: github.RoleMaintain, Run: true, Shared: true, Args: []slashParam{phase}, Text: slashMustText},
		{Name: "status", Role: github.RoleTriage, Now: true},
		{Name: "help", Role: github.RoleTriage, Now: true, Args: []slashParam{
			{Kind: slashTopic, Optional: true, field: func(c *slashCommand) any { return &c.Topic }},
		}},
		{Name: "config", Role: github.RoleTriage, Now: true},
	}
}

// slashSpecOf finds a command of the table by its name.
func slashSpecOf(name string) (slashSpec, bool) {
	for _, s := range slashTable() {
		if s.Name == name {
			return s, true
		}
	}
	return slashSpec{}, false
}

// spec gives the row of a command. A command that parseSlash gave has one.
func (c slashCommand) spec() slashSpec {
	s, _ := slashSpecOf(c.Name)
	return s
}

// now reports whether a command is answered at once, also while a run is at
// work: it changes nothing.
func (c slashCommand) now() bool { return c.spec().Now || c.DryRun }

// flag finds a flag by its name without hyphens.
func (s slashSpec) flag(name string) (slashParam, bool) {
	for _, f := range s.Flags {
		if f.Name == name {
			return f, true
		}
	}
	return slashParam{}, false
}

// usage is the line that shows how a command is written.
func (s slashSpec) usage() string {
	line := "/" + s.Name
	for _, a := range s.Args {
		if a.Optional {
			line += " [" + a.Kind.form() + "]"
		} else {
			line += " " + a.Kind.form()
		}
	}
	for _, f := range s.Flags {
		line += " [" + f.usage() + "]"
	}
	switch s.Text {
	case slashMayText:
		line += " [" + s.textForm() + "]"
	case slashMustText:
		line += " " + s.textForm()
	}
	return line
}

func (s slashSpec) textForm() string {
	if s.Name == "answer" {
		return "TEXT"
	}
	return "REASON"
}

// usage is how a flag is written, with what stands for its value.
func (f slashParam) usage() string {
	if f.Kind == slashSwitch {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.Kind.form()
}
