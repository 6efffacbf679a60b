package wire

import (
	"encoding/json"
	"strings"
	"time"
)

// User is an account.
type User struct {
	Login string
	ID    int64
	Type  string // User, Bot, Organization, Mannequin, or empty
}

// Is reports whether two accounts are the same. Names can be taken over by
// somebody else, so the number decides where both have one.
func (u User) Is(other User) bool {
	if u.ID != 0 && other.ID != 0 {
		return u.ID == other.ID
	}
	return u.Login != "" && strings.EqualFold(u.Login, other.Login)
}

// AccountForm is an object with a login, or with a name, or the name itself.
type AccountForm struct {
	Login string
	ID    int64
	Type  string
}

// UnmarshalJSON reads any of the forms.
func (w *AccountForm) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &w.Login)
	}
	var object struct {
		Login    string `json:"login"`
		Name     string `json:"name"`
		UserName string `json:"username"` // so called by Gitea and Forgejo, besides login
		ID       int64  `json:"id"`
		Type     string `json:"type"`
	}
	err := json.Unmarshal(data, &object)
	*w = AccountForm{Login: object.Login, ID: object.ID, Type: object.Type}
	for _, other := range []string{object.UserName, object.Name} {
		if w.Login == "" {
			w.Login = other
		}
	}
	return err
}

// User gives the account.
func (w AccountForm) User() User { return User(w) }

// moment is a time, zero unless it is written as it should be: a comment of an
// unknown time counts as edited, and that is for the caller to say.
type moment struct{ time.Time }

// UnmarshalJSON never fails.
func (m *moment) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &m.Time) != nil {
		m.Time = time.Time{}
	}
	return nil
}
