package prompts

import "github.com/reprise-ci/reprise/prompts/clean"

// marker shows the hidden characters of many texts, and counts them.
type marker struct{ count int }

func (m *marker) show(texts ...*string) {
	for _, text := range texts {
		shown, n := clean.Mark(*text)
		*text = shown
		m.count += n
	}
}

// shown is d with hidden characters shown wherever agents, their work or their
// checks have written, and how many there are.
func shown(d Data) (Data, int) {
	m := &marker{}
	m.show(&d.Diff, &d.State)
	if d.Rollback != nil {
		r := *d.Rollback
		m.show(&r.Reason)
		r.Earlier, r.AffectedTests, r.Comments = m.list(r.Earlier), m.list(r.AffectedTests), m.comments(r.Comments)
		d.Rollback = &r
	}
	if d.Feedback != nil {
		f := m.feedback(*d.Feedback)
		d.Feedback = &f
	}
	return d, m.count
}

func (m *marker) feedback(f Feedback) Feedback {
	f.Gates = append([]Gate(nil), f.Gates...)
	for i := range f.Gates {
		m.show(&f.Gates[i].Why)
	}
	f.Findings = append([]Finding(nil), f.Findings...)
	for i := range f.Findings {
		x := &f.Findings[i]
		m.show(&x.ID, &x.Title, &x.Problem, &x.Impact, &x.Solution, &x.File)
	}
	f.Checks = append([]Check(nil), f.Checks...)
	for i := range f.Checks {
		m.show(&f.Checks[i].Output)
		f.Checks[i].Tests = m.list(f.Checks[i].Tests)
	}
	f.Violations, f.Missing, f.Invalid = m.list(f.Violations), m.list(f.Missing), m.list(f.Invalid)
	m.show(&f.Conflict)
	f.Paths = m.list(f.Paths)
	return f
}

func (m *marker) comments(all []Comment) []Comment {
	out := append([]Comment(nil), all...)
	for i := range out {
		m.show(&out[i].File, &out[i].At, &out[i].Text, &out[i].Hunk)
	}
	return out
}

// list shows what is hidden in a list, and leaves the list that it is given.
func (m *marker) list(texts []string) []string {
	out := append([]string(nil), texts...)
	for i := range out {
		m.show(&out[i])
	}
	return out
}
