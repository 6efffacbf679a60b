package command

import (
	"slices"

	"github.com/reprise-ci/reprise/internal/github"
)

// Spec describes a command.
type Spec struct {
	Name   string
	Args   []param // in this order
	Flags  []param // before or behind the arguments, and before the text
	Text   textRule
	Role   github.Role // least right that it takes, unless configured
	Run    bool        // there has to be a run
	Now    bool        // answered at once, also while a run is at work
	Shared bool        // other programs know the name, too: without a run it is for them
}

// textRule says whether a command takes text.
type textRule int

const (
	noText textRule = iota
	mayText
	mustText
)

// param is an argument or a flag.
type param struct {
	Name     string // of a flag, without hyphens
	Kind     Kind
	Optional bool // for arguments; flags always are
	Instead  bool // of a switch: it stands for the arguments, and the text may be left out

	// field gives where its value is kept: a *string, *bool, *pipelines.Part,
	// *budget.Allowance or *Anew.
	field func(*Command) any
}

// renamed has the names that commands had before, and those that they have now. People
// who use the older one are told the newer one.
func renamed() map[string]string { return map[string]string{"resume": "run", "reject": "rollback"} }

// Table lists every command, in the order people see them.
func Table() []Spec {
	phase := param{Kind: KindPhase, field: func(c *Command) any { return &c.Phase }}
	maybePhase := param{Kind: KindPhase, Optional: true, field: phase.field}
	more := param{Name: "more", Kind: kindMore, field: func(c *Command) any { return &c.More }}
	return []Spec{
		{Name: "run", Role: github.RoleWrite, Flags: []param{
			{Name: "pipeline", Kind: kindPipeline, field: func(c *Command) any { return &c.Pipeline }},
			{Name: "phases", Kind: kindPhases, field: func(c *Command) any { return &c.Part }},
			{Name: "no-split", Kind: kindSwitch, field: func(c *Command) any { return &c.Part.NoSplit }},
			{Name: "agent", Kind: kindAgent, field: func(c *Command) any { return &c.Agent }},
			{Name: "refresh", Kind: kindRefresh, field: func(c *Command) any { return &c.Refresh }},
			more,
		}},
		{
			Name: "rollback", Role: github.RoleWrite, Run: true, Text: mustText,
			Args: []param{{Kind: kindPhaseStep, field: phase.field}},
			Flags: []param{
				{Name: "restore", Kind: kindSwitch, field: func(c *Command) any { return &c.Restore }},
				{Name: "attempt", Kind: kindAttempt, field: func(c *Command) any { return &c.Attempt }},
				{Name: "dry-run", Kind: kindSwitch, field: func(c *Command) any { return &c.DryRun }},
				{Name: "auto", Kind: kindSwitch, Instead: true, field: func(c *Command) any { return &c.Auto }},
			},
		},
		{Name: "retry", Role: github.RoleWrite, Run: true, Args: []param{maybePhase}, Flags: []param{more}},
		{Name: "update", Role: github.RoleWrite, Run: true},
		{Name: "pause", Role: github.RoleWrite, Run: true, Shared: true, Text: mayText},
		{Name: "cancel", Role: github.RoleWrite, Run: true, Text: mayText},
		{Name: "approve", Role: github.RoleWrite, Run: true, Shared: true, Args: []param{
			maybePhase,
			{Kind: KindCommit, Optional: true, field: func(c *Command) any { return &c.Commit }},
		}},
		{Name: "answer", Role: github.RoleWrite, Run: true, Shared: true, Text: mustText, Args: []param{
			{Kind: KindQuestion, Optional: true, field: func(c *Command) any { return &c.Question }},
		}},
		{Name: "skip", Role: github.RoleMaintain, Run: true, Shared: true, Args: []param{phase}, Text: mustText},
		{Name: "finish", Role: github.RoleMaintain, Run: true, Flags: []param{
			{Name: "squash", Kind: kindSwitch, field: func(c *Command) any { return &c.Squash }},
		}},
		{Name: "status", Role: github.RoleTriage, Now: true},
		{Name: "help", Role: github.RoleTriage, Now: true, Args: []param{
			{Kind: kindTopic, Optional: true, field: func(c *Command) any { return &c.Topic }},
		}},
		{Name: "config", Role: github.RoleTriage, Now: true},
	}
}

// specOf finds a command of the table by its name.
func specOf(name string) (Spec, bool) {
	for _, s := range Table() {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// Spec gives the row of a command. Every command that Parse gives has one.
func (c Command) Spec() Spec {
	s, _ := specOf(c.Name)
	return s
}

// Now reports whether a command is answered at once, also while a run is at
// work: it changes nothing. With --auto an agent is asked, which takes its time.
func (c Command) Now() bool { return c.Spec().Now || c.DryRun && !c.Auto }

// flag finds a flag by its name without hyphens.
func (s Spec) flag(name string) (param, bool) {
	for _, f := range s.Flags {
		if f.Name == name {
			return f, true
		}
	}
	return param{}, false
}

// instead finds the switch that stands for the arguments of a command.
func (s Spec) instead() (param, bool) {
	for _, f := range s.Flags {
		if f.Instead {
			return f, true
		}
	}
	return param{}, false
}

// textFor says whether a command takes text, as far as it was read.
func (s Spec) textFor(c *Command) textRule {
	if f, ok := s.instead(); ok && s.Text == mustText {
		if _, given := got(f.field(c)); given {
			return mayText
		}
	}
	return s.Text
}

// usage are the lines that show how a command is written: one, and another where
// a switch stands for the arguments.
func (s Spec) usage() string {
	f, ok := s.instead()
	if !ok {
		return s.usageLine()
	}
	usual, other := s, s
	usual.Flags = slices.DeleteFunc(slices.Clone(s.Flags), func(p param) bool { return p.Instead })
	other.Name, other.Args, other.Flags, other.Text = s.Name+" "+f.usage(), nil, slices.DeleteFunc(slices.Clone(usual.Flags), func(p param) bool { return p.Kind == kindAttempt }), mayText
	return usual.usageLine() + "\n" + other.usageLine()
}

func (s Spec) usageLine() string {
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
	case mayText:
		line += " [" + s.textForm() + "]"
	case mustText:
		line += " " + s.textForm()
	}
	return line
}

func (s Spec) textForm() string {
	if s.Name == "answer" {
		return "TEXT"
	}
	return "REASON"
}

// usage is how a flag is written, with what stands for its value.
func (f param) usage() string {
	switch f.Kind {
	case kindSwitch:
		return "--" + f.Name
	case kindRefresh:
		return "--" + f.Name + "[=" + f.Kind.form() + "]"
	}
	return "--" + f.Name + " " + f.Kind.form()
}
