package api

import (
	"fmt"
	"net/http"
)

// Docs is where GitHub explains its answers.
const Docs = "https://docs.github.com/rest"

// object is a JSON object.
type object = map[string]any

// Result is what becomes of a request.
type Result struct {
	status      int
	value       any               // nil: no body
	header      map[string]string // besides the usual ones
	permissions string            // that would have let it in
}

func ok(value any) Result      { return Result{status: http.StatusOK, value: value} }
func created(value any) Result { return Result{status: http.StatusCreated, value: value} }
func nothing() Result          { return Result{status: http.StatusNoContent} }
func notFound() Result         { return refuse(http.StatusNotFound, "Not Found") }

// refuse is what GitHub says when it does not do what was asked for.
func refuse(status int, message string) Result {
	return Result{status: status, value: object{"message": message, "documentation_url": Docs, "status": fmt.Sprint(status)}}
}

// invalid refuses with the reasons that GitHub gives for what was sent.
func invalid(reasons ...object) Result {
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.value.(object)["errors"] = reasons
	return r
}

// moved says where something is now.
func moved(method, to string) Result {
	status := http.StatusMovedPermanently
	if method != http.MethodGet {
		status = http.StatusTemporaryRedirect
	}
	return Result{status: status, value: object{"message": "Moved Permanently", "url": to, "documentation_url": Docs}, header: map[string]string{"Location": to}}
}
