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

// WrongHooks says what is wrong with hooks whose fields are right, by their numbers.
func WrongHooks(all []Hook) map[int]string {
	wrong := map[int]string{}
	for i, h := range all {
		at, err := url.Parse(h.URL)
		switch {
		case (h.Run == "") == (h.URL == ""):
			wrong[i] = "expected one of run, a command, and url, the address of a webhook"
		case len(h.On) == 0:
			wrong[i] = "on is empty, so that it is told of nothing"
		case h.Run != "" && (h.Secret != "" || h.Private):
			wrong[i] = "secret and private are of a webhook; a command has none"
		case h.URL != "" && (err != nil || at.Hostname() == ""):
			wrong[i] = "the address of url has no host"
		}
	}
	return wrong
}
