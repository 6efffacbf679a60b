package source

// alone finds what is wrong with a file whatever the pipeline says that it
// builds on, which is not known: names that lead nowhere may be of that one, so
// that the checker has to be open.
func (c *mistakes) alone(n *node) error {
	if v := n.get("phases"); v != nil {
		c.add(v, nil, "the phases come from another pipeline; change them with replace, insert and drop")
	}
	own := n.clone() // with the phases that the file itself writes
	own.set("phases", c.written(n))
	d, err := newDraft(own)
	if err != nil {
		return err
	}
	c.patterns(own, &d)
	c.agents(own, &d)
	seen := map[string]string{}
	for i := range d.Phases {
		c.phase(own.get("phases").item(i), &d.Phases[i], &d, seen)
		if i < len(n.list("replace")) {
			clear(seen) // a phase may be replaced by the one of its name, and twice
		}
	}
	for i := range d.Spare {
		c.phase(own.get("spare").item(i), &d.Spare[i], &d, seen)
	}
	return nil
}

// written gives the phases that a file replaces and, behind them, those it
// inserts. It notes those without a place.
func (c *mistakes) written(n *node) *node {
	phases := &node{place: n.place, path: n.path, kind: list}
	phases.items = append(phases.items, n.list("replace")...)
	for i, in := range n.list("insert") {
		if (in.get("after").text() == "") == (in.get("before").text() == "") {
			c.add(n, []any{"insert", i}, "expected one of after and before, with the name of a phase")
		}
		if phase := in.get("phase"); phase != nil {
			phases.items = append(phases.items, phase)
		}
	}
	return phases
}
