package gate

import "github.com/reprise-ci/reprise/metadata"

// ClassOf gives the class of an error of a model's service: by its HTTP status (0: no answer), and the word that the
// program has for it.
func ClassOf(status int, word string) metadata.Class {
	switch {
	case status == 401 || status == 403 || word == "authentication_failed" || word == "billing_error":
		return metadata.Auth
	case status == 429 || status == 529 || word == "rate_limit" || word == "overloaded":
		return metadata.RateLimited
	case status >= 500 || word == "server_error" || status == 0 && word == "unknown":
		return metadata.Network
	}
	return metadata.Crash
}
