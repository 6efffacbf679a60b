package source

// CheckAlone finds what is wrong with a file whatever the pipeline says that it
// builds on, which is not known: names that lead nowhere may be of that one, so
// that m has to be open.
func CheckAlone(m *MistakeList, n *Node) error {
	c := checks{m}
	if v := n.Get("phases"); v != nil {
		c.Add(v, nil, "the phases come from another pipeline; change them with replace, insert and drop")
	}
	own := n.Clone() // with the phases that the file itself writes
	own.Set("phases", c.written(n))
	d, err := DraftOf(own)
	if err != nil {
		return err
	}
	c.patterns(own, &d)
	c.agents(own, &d)
	seen := map[string]string{}
	for i := range d.Phases {
		c.phase(own.Get("phases").Item(i), &d.Phases[i], &d, seen)
		if i < len(n.List("replace")) {
			clear(seen) // a phase may be replaced by the one of its name, and twice
		}
	}
	for i := range d.Spare {
		c.phase(own.Get("spare").Item(i), &d.Spare[i], &d, seen)
	}
	return nil
}

// written gives the phases that a file replaces and, behind them, those it
// inserts. It notes those without a place.
func (c checks) written(n *Node) *Node {
	phases := &Node{NodePlace: n.NodePlace, Path: n.Path, Kind: ListNode}
	phases.Items = append(phases.Items, n.List("replace")...)
	for i, in := range n.List("insert") {
		if (in.Get("after").Text() == "") == (in.Get("before").Text() == "") {
			c.Add(n, []any{"insert", i}, "expected one of after and before, with the name of a phase")
		}
		if phase := in.Get("phase"); phase != nil {
			phases.Items = append(phases.Items, phase)
		}
	}
	return phases
}
