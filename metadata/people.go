package metadata

import (
	"slices"
	"time"
)

// Task is a part of the work that a phase has found.
type Task struct {
	ID    string   `json:"id"`
	Phase string   `json:"phase"` // that found it
	Title string   `json:"title"`
	Goal  string   `json:"goal"`
	Files []string `json:"files,omitempty"` // it is likely to touch, as the agent named them
	Needs []string `json:"needs,omitempty"` // ids of tasks to be done before
}

// Question is something that an agent asks people. The run waits for the
// answer.
type Question struct {
	ID         string     `json:"id"` // q1, q2 and so on through the whole run
	Phase      string     `json:"phase"`
	Generation int        `json:"generation"`
	Attempt    int        `json:"attempt"` // that asked
	Text       string     `json:"question"`
	Options    []string   `json:"options,omitempty"`
	AskedAt    time.Time  `json:"asked_at"`
	Answer     string     `json:"answer,omitempty"`
	By         string     `json:"by,omitempty"` // who answered
	AnsweredAt *time.Time `json:"answered_at"`  // nil: it is open
}

// Open reports whether nobody has answered yet.
func (q Question) Open() bool { return q.AnsweredAt == nil }

// Approval is the word of a person that a phase may stand as it is: as one
// attempt wrote it, and not as it may read later.
type Approval struct {
	Phase      string `json:"phase"`
	Generation int    `json:"generation"`
	Attempt    int    `json:"attempt"`          // that wrote what was approved
	Touched    int    `json:"touched,omitzero"` // see Phase.Touched
	Digest     string `json:"digest"`           // of the artifact
	// Role is the one that was asked for: By had it, or a higher one. Empty if
	// nobody asked for a certain one.
	Role    string    `json:"role,omitempty"`
	By      string    `json:"by,omitempty"`
	Comment int64     `json:"comment_id,omitzero"`
	At      time.Time `json:"at"`
}

// Child is an issue of its own that a phase asks for.
type Child struct {
	// ID stands for the title: whoever asks for the same asks for this one.
	ID     string `json:"id"`
	Phase  string `json:"phase"` // that asked first
	Title  string `json:"title"`
	Body   string `json:"body,omitempty"`
	Number int    `json:"number,omitzero"` // of the issue; 0: none was opened
	URL    string `json:"url,omitempty"`
}

// Opened reports whether the issue is there.
func (c Child) Opened() bool { return c.Number != 0 }

// Use says who does the steps of a phase, other than the pipeline does.
type Use struct {
	Agent string `json:"agent,omitempty"`
	Tier  string `json:"tier,omitempty"`
}

func (c *checker) people(r *Run) {
	tasks := map[string]bool{}
	for i, t := range r.Tasks {
		at := c.element("tasks", i)
		at.must("id", CheckID(t.ID))
		if tasks[t.ID] {
			at.bad("id", "%q is the id of an earlier task", t.ID)
		}
		tasks[t.ID] = true
		at.filled("title", t.Title)
		at.known("phase", t.Phase)
		for _, file := range t.Files {
			at.path("files", file)
		}
	}
	for i, t := range r.Tasks {
		for _, need := range t.Needs {
			if !tasks[need] || need == t.ID {
				c.element("tasks", i).bad("needs", "there is no other task %q", need)
			}
		}
	}
	ids := map[string]bool{}
	for i, q := range r.Questions {
		at := c.element("questions", i)
		at.must("id", CheckID(q.ID))
		if ids[q.ID] {
			at.bad("id", "%q is the id of an earlier question", q.ID)
		}
		ids[q.ID] = true
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
		optional(at, "role", a.Role, roles()...)
		count(at, "comment_id", a.Comment)
		at.time("at", a.At)
	}
	c.children(r)
}

func (c *checker) children(r *Run) {
	ids := map[string]bool{}
	for i, child := range r.Children {
		at := c.element("children", i)
		at.must("id", CheckID(child.ID))
		if ids[child.ID] {
			at.bad("id", "%q is the id of an earlier child", child.ID)
		}
		ids[child.ID] = true
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
