package pipelines

import "net/url"

// Hook is a command or a webhook. Its zero values are the defaults.
type Hook struct {
	On      []string `json:"on"`                // start, phase, wait, complete, fail, retry, rollback
	Run     string   `json:"run,omitempty"`     // for /bin/sh
	URL     string   `json:"url,omitempty"`     // https
	Secret  string   `json:"secret,omitempty"`  // the variable that has the key of signatures
	Private bool     `json:"private,omitempty"` // the host may be one of a private network
	Timeout string   `json:"timeout,omitempty"` // of one try, such as "10s"
}

// Wrong says what is wrong with a hook whose fields are right, or "".
func (h Hook) Wrong() string {
	at, err := url.Parse(h.URL)
	switch {
	case (h.Run == "") == (h.URL == ""):
		return "expected one of run, a command, and url, the address of a webhook"
	case len(h.On) == 0:
		return "on is empty, so that it is told of nothing"
	case h.Run != "" && (h.Secret != "" || h.Private):
		return "secret and private are of a webhook; a command has none"
	case h.URL != "" && (err != nil || at.Hostname() == ""):
		return "the address of url has no host"
	}
	return ""
}
