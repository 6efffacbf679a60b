package githubtest

import "net/http"

// ServeHTTP answers one request without a connection, for tests in which time
// must not depend on one. Faults that break a connection panic with
// http.ErrAbortHandler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r) }
