package api

import (
	"net/http"
)

// accountHandler answers requests about accounts and rights.
type accountHandler struct{ *visit }

// getUser answers whose the token is.
func (h accountHandler) getUser() Result { return ok(h.show.Viewer(h.token.Login)) }

// getPermission answers what somebody may do.
func (h accountHandler) getPermission() Result {
	login := h.in.params["username"]
	if a := h.Accounts.Of(login); a.Suspended || a.Deleted {
		return notFound()
	}
	if !h.has("write") {
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	return ok(h.show.Permission(login, h.repo.RoleOf(login)))
}
