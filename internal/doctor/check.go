package doctor

// Condition says how a thing is that a run needs.
type Condition string

// The conditions.
const (
	Fine    Condition = "ok"
	Hint    Condition = "hint"    // a run goes on without it, or it could not be found out
	Missing Condition = "missing" // it would stop a run
)

// Check is one thing that a run needs.
type Check struct {
	Name   string    `json:"name"`
	Status Condition `json:"status"`
	Found  string    `json:"found"`
	Do     string    `json:"do"` // what a person can do; "" where all is well
}

// well, hinted and lacking make a check of each condition.
func well(name, found string) Check { return Check{name, Fine, found, ""} }

func hinted(name, found, do string) Check { return Check{name, Hint, found, do} }

func lacking(name, found, do string) Check { return Check{name, Missing, found, do} }
