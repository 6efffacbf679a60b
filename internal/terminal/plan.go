package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/pipelines"
)

// ShowPlan prints a pipeline as a run freezes it: every setting that has a value, by the
// name under which a pipeline has it, and where those come from that a repository may have
// for all runs.
func ShowPlan(w io.Writer, plan *pipelines.Pipeline, o Options) {
	r, plan := planReport{NewReport(w, o)}, view.Whole(plan)
	r.prose(text.Join(": ", r.Bold(text.Flat(plan.Name)), text.Flat(plan.Description)))
	t := settingsTable(plan, "name", "description", "phases", "spare", "rules", "origins")
	for _, o := range pipelines.OriginsOf(plan) {
		file := cmp.Or(map[string]string{"": "the defaults", pipelines.GivenForRun: "given for this run"}[o.File], text.Flat(o.File))
		t.Add("from", file+": "+strings.Join(text.FlatAll(o.Settings), ", "))
	}
	r.facts(&t, "")
	for i, p := range plan.Phases {
		r.planPhase(plan, p, fmt.Sprintf("%d %s", i+1, text.Flat(p.Name)))
	}
	for _, p := range plan.Spare {
		r.planPhase(plan, p, text.Flat(p.Name)+", which a rule may insert")
	}
}

// planReport shows a pipeline.
type planReport struct{ Report }

// planPhase prints one phase, with the rules that come after it.
func (r planReport) planPhase(plan *pipelines.Pipeline, p pipelines.Phase, heading string) {
	r.Heading(heading)
	r.Text(r.paragraphs(p.Goal), "  ")
	t := settingsTable(p, "name", "goal", "report_schema")
	for i, x := range plan.Rules {
		if x.After == p.Name {
			t.Add("rule", fmt.Sprintf("%d, when %s: %s", i+1, whenText(x.When), settingText(settingsOf(x.Then), 0)))
		}
	}
	r.facts(&t, "  ")
}

// settingsTable has a row for each setting of a value, but some.
func settingsTable(of any, but ...string) (t text.Table) {
	all, _ := settingsOf(of).([]setting)
	for _, s := range all {
		if !slices.Contains(but, s.name) {
			for i, line := range s.lines() {
				t.Add(text.If(i == 0 || s.name != "report", text.Flat(s.name)), line)
			}
		}
	}
	return t
}

// setting is a field of a pipeline with its name and its value as JSON has it: a text, a
// number, true, a list, or further settings in the order in which they are written.
type setting struct {
	name  string
	value any
}

// settingsOf gives the settings of a part of a pipeline.
func settingsOf(of any) any {
	data, err := json.Marshal(of)
	if err != nil {
		return err.Error() // an amount that JSON cannot hold
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return nextValue(dec)
}

func nextValue(dec *json.Decoder) any {
	token, _ := dec.Token() // it has just been written
	switch token {
	case json.Delim('{'):
		all := []setting{}
		for dec.More() {
			name, _ := dec.Token()
			all = append(all, setting{fmt.Sprint(name), nextValue(dec)})
		}
		_, _ = dec.Token()
		return all
	case json.Delim('['):
		all := []any{}
		for dec.More() {
			all = append(all, nextValue(dec))
		}
		_, _ = dec.Token()
		return all
	}
	return token
}

// lines gives a setting for people: a line for each entry that is more than a word, and for
// each line of a text.
func (s setting) lines() (lines []string) {
	switch v := s.value.(type) {
	case []setting:
		if !slices.Contains([]string{"agents", "presets", "prices", "documents"}, s.name) { // those are by name
			return []string{settingText(v, 0)}
		}
		for _, one := range v {
			lines = append(lines, text.Flat(one.name)+": "+settingText(one.value, 0))
		}
	case []any:
		words := true
		for _, one := range v {
			name, isText := one.(string)
			words = words && isText && !strings.Contains(name, " ")
			lines = append(lines, settingText(one, 0))
		}
		if words {
			return []string{cmp.Or(strings.Join(lines, ", "), "none")}
		}
	case string:
		if s.name != "report" {
			return []string{text.Flat(v)}
		}
		for line := range strings.Lines(v) {
			// As it is written: on one line, a comment would take in what follows it.
			body := strings.TrimLeft(line, "\t")
			lines = append(lines, strings.Repeat("  ", len(line)-len(body))+text.Flat(body))
		}
	default:
		return []string{settingText(v, 0)}
	}
	return lines
}

// settingText gives a value on one line; what is within another value stands in parentheses.
func settingText(value any, depth int) string {
	var parts []string
	switch v := value.(type) {
	case []setting:
		for _, one := range v {
			said := settingText(one.value, depth+1)
			if when, is := one.value.(string); is && one.name == "when" {
				said = whenText(when)
			}
			parts = append(parts, text.Flat(one.name)+" "+said)
		}
	case []any:
		for _, one := range v {
			parts = append(parts, settingText(one, depth+1))
		}
		if len(v) == 0 {
			parts = []string{"none"}
		}
	default:
		return text.Flat(fmt.Sprint(v))
	}
	said := text.Join(", ", parts...)
	if depth > 0 && len(parts) > 1 {
		return "(" + said + ")"
	}
	return said
}

// listItem matches a line that begins anew: an item of a list, a heading, a quotation, or an
// empty line.
var listItem = regexp.MustCompile(`^(\s|[-*+#>|]|\d+[.)] |$)`)

// paragraphs joins the lines of each paragraph, which a terminal breaks anew at its width.
func (r planReport) paragraphs(body string) string {
	if r.width == 0 || strings.Contains(body, "```") { // lines of code stay apart
		return body
	}
	var b strings.Builder
	between := ""
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		if b.Len() > 0 && listItem.MatchString(line) {
			between = "\n"
		}
		b.WriteString(between + line)
		between = " "
		if line == "" {
			between = "\n"
		}
	}
	return b.String()
}

// whenText gives a condition on one line, without what it imports.
func whenText(when string) string {
	if _, body, has := strings.Cut(when, "\n\n"); has && strings.HasPrefix(when, "import ") {
		when = "{\n" + body + "\n}"
	}
	var all strings.Builder
	for line := range strings.FieldsFuncSeq(when, func(r rune) bool { return r == '\n' }) {
		line = strings.TrimSpace(line)
		switch before := all.String(); {
		case before == "" || line == "":
		case strings.ContainsRune("{[(,", rune(before[len(before)-1])) || strings.ContainsRune("}])", rune(line[0])):
			all.WriteByte(' ')
		default:
			all.WriteString(", ")
		}
		all.WriteString(line)
	}
	return text.Flat(all.String())
}
