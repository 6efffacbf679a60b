package command

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
)

// spec describes a command, see table.yaml.
type spec struct {
	Name             string
	Args             []param // in this order
	Flags            []param // before or behind the arguments, and before the text
	Text             textRule
	Role             github.Role // least right that it takes, unless configured
	Run, Now, Shared bool
}

// textRule says whether a command takes text.
type textRule string

const (
	noText   textRule = ""
	mayText  textRule = "may"
	mustText textRule = "must"
)

// param is an argument or a flag.
type param struct {
	Name     string // of a flag, without hyphens
	Kind     kind
	Field    string // of Command, that keeps its value
	Optional bool   // for arguments; flags always are
	Instead  bool
}

// in gives where a command keeps its value: a *string, *bool, *int, *pipelines.Part, *phases.Allowance or *anew.
func (p param) in(c *Command) any {
	field := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(p.Field, ".") {
		field = field.FieldByName(name)
	}
	return field.Addr().Interface()
}

// renamed has the names that commands had before, and those that they have now. People
// who use the older one are told the newer one.
func renamed() map[string]string { return map[string]string{"resume": "run", "reject": "rollback"} }

//go:embed table.yaml
var tableFile []byte

var table = sync.OnceValue(func() (t struct {
	Kinds    map[kind]string
	Commands []spec
},
) {
	return text.TableIn(t, tableFile)
})

// Table lists every command, in the order people see them.
func Table() []spec { return table().Commands }

// specOf finds a command of the table by its name.
func specOf(name string) (spec, bool) {
	for _, s := range Table() {
		if s.Name == name {
			return s, true
		}
	}
	return spec{}, false
}

// Spec gives the row of a command. Every command that Parse gives has one.
func (c Command) Spec() spec {
	s, _ := specOf(c.Name)
	return s
}

// Now reports whether a command is answered at once, also while a run is at
// work: it changes nothing. With --auto an agent is asked, which takes its time.
func (c Command) Now() bool { return c.Spec().Now || c.DryRun && !c.Auto }

// flag finds a flag by its name without hyphens.
func (s spec) flag(name string) (param, bool) {
	for _, f := range s.Flags {
		if f.Name == name {
			return f, true
		}
	}
	return param{}, false
}

// instead finds the switch that stands for the arguments of a command.
func (s spec) instead() (param, bool) {
	for _, f := range s.Flags {
		if f.Instead {
			return f, true
		}
	}
	return param{}, false
}

// textFor says whether a command takes text, as far as it was read.
func (s spec) textFor(c *Command) textRule {
	if f, ok := s.instead(); ok && s.Text == mustText {
		if _, given := got(f.in(c)); given {
			return mayText
		}
	}
	return s.Text
}

// usage are the lines that show how a command is written: one, and another where
// a switch stands for the arguments.
func (s spec) usage() string {
	f, ok := s.instead()
	if !ok {
		return s.usageLine()
	}
	usual, other := s, s
	usual.Flags = slices.DeleteFunc(slices.Clone(s.Flags), func(p param) bool { return p.Instead })
	other.Name, other.Args, other.Flags, other.Text = s.Name+" "+f.usage(), nil, slices.DeleteFunc(slices.Clone(usual.Flags), func(p param) bool { return p.Kind == kindAttempt }), mayText
	return usual.usageLine() + "\n" + other.usageLine()
}

func (s spec) usageLine() string {
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

func (s spec) textForm() string {
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

// Role is the least right somebody needs to be given the result of a text: a
// command's own, and for what is none that for help.
func (p Parsed) Role() github.Role {
	if spec, ok := specOf(p.Command.Name); ok {
		return spec.Role
	}
	help, _ := specOf("help") // it is in the table
	return help.Role
}
