package gate

import "time"

// Usage is what requests to one model came to.
type Usage struct {
	Requests  int // that were answered, or broke off on the way
	Tokens    Tokens
	Estimated bool // some of them did not say what they used
}

// Report is what a gate has seen so far.
type Report struct {
	Usage   map[string]Usage // by model
	Turns   int              // requests to a model that were answered, or are being answered
	USD     float64
	Extra   float64     // of USD, what the usual price of tokens does not explain: tools of the service, and being served sooner
	Refused []Refused   // hosts, by name
	Models  []string    // that were asked for and refused
	Limit   Limit       // that a request was refused for
	Tools   []ServerUse // servers of tools, by name
}

// Refused is an address that was not allowed.
type Refused struct {
	Host  string // with its port
	Count int
}

// Event is what has to be known before a call is over.
type Event struct {
	Kind       EventKind
	Provider   string
	Status     int           // of a provider's answer
	Said       string        // of one that says how long to wait
	RetryAfter time.Duration // as a provider asked; 0 if it did not
	Limit      Limit
}

// EventKind says what happened.
type EventKind int

// What happens.
const (
	Answered   EventKind = iota // a model has begun to answer
	Throttled                   // the provider has no room: status 429 or 529
	Unknown                     // the provider does not know the key: status 401
	LimitEnded                  // a request was refused because a limit is reached
)
