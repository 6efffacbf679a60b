package metadata

import "slices"

func (c *checker) tasksOf(r *Run) {
	for i, t := range r.Tasks {
		at := c.element("tasks", i)
		at.newID(c.tasks, t.ID, "task")
		at.filled("title", t.Title)
		at.known("phase", t.Phase)
		for _, file := range t.Files {
			at.path("files", file)
		}
	}
	for i, t := range r.Tasks {
		for _, need := range t.Needs {
			if !c.tasks[need] || need == t.ID {
				c.element("tasks", i).bad("needs", "there is no other task %q", need)
			}
		}
	}
}

func (c *checker) people(r *Run) {
	ids := map[string]bool{}
	for i, q := range r.Questions {
		at := c.element("questions", i)
		at.newID(ids, q.ID, "question")
		at.known("phase", q.Phase)
		count(at, "generation", q.Generation)
		c.by(at, q.Attempt)
		at.filled("question", q.Text)
		at.time("asked_at", q.AskedAt)
		at.timeOrNil("answered_at", q.AnsweredAt)
		if q.Open() != (q.Answer == "") {
			at.bad("answer", "does not go with answered_at")
		}
	}
	for i, a := range r.Approvals {
		at := c.element("approvals", i)
		at.known("phase", a.Phase)
		count(at, "generation", a.Generation)
		c.by(at, a.Attempt)
		at.filled("digest", a.Digest)
		count(at, "touched", a.Touched)
		optional(at, "role", a.Role, Roles()...)
		count(at, "comment_id", a.Comment)
		at.time("at", a.At)
	}
	c.children(r)
	for i, v := range r.Reviews {
		at := c.element("reviews", i)
		count(at, "id", v.ID)
		at.time("at", v.At)
		at.link("url", v.URL)
		at.known("phase", v.Phase)
	}
}

func (c *checker) children(r *Run) {
	ids := map[string]bool{}
	for i, child := range r.Children {
		at := c.element("children", i)
		at.newID(ids, child.ID, "child")
		at.known("phase", child.Phase)
		at.filled("title", child.Title)
		count(at, "number", child.Number)
		at.link("url", child.URL)
		if child.URL != "" && !child.Opened() {
			at.bad("url", "is set, but no issue was opened")
		}
	}
}

// opened checks that issues which were opened stay in the record: else they
// would be opened once more.
func (c *checker) opened(old, next *Run) {
	at := c.root()
	for _, was := range old.Children {
		if was.Opened() && !slices.ContainsFunc(next.Children, func(is Child) bool { return is.ID == was.ID && is.Number == was.Number }) {
			at.bad("children", "issue %d, %q, is gone; it was opened", was.Number, was.ID)
		}
	}
}

// newID checks an id, which no earlier element may have, and notes it.
func (p place) newID(earlier map[string]bool, id, what string) {
	p.must("id", CheckID(id))
	if earlier[id] {
		p.bad("id", "%q is the id of an earlier %s", id, what)
	}
	earlier[id] = true
}

// by checks the number of an attempt.
func (c *checker) by(at place, attempt int) {
	if attempt < 1 || attempt > c.attempts {
		at.bad("attempt", "there is no attempt %d", attempt)
	}
}

func sameQuestion(a, b Question) bool {
	equal := a.ID == b.ID && a.Phase == b.Phase && a.Generation == b.Generation && a.Attempt == b.Attempt && a.Text == b.Text &&
		slices.Equal(a.Options, b.Options) && a.AskedAt.Equal(b.AskedAt)
	if a.Open() {
		return equal // the answer may have come
	}
	return equal && !b.Open() && a.Answer == b.Answer && a.By == b.By && a.AnsweredAt.Equal(*b.AnsweredAt)
}

func sameApproval(a, b Approval) bool {
	equal := a.At.Equal(b.At)
	a.At = b.At
	return equal && a == b
}
