package state

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Account is somebody, or a program.
type Account struct {
	Login     string
	Kind      string // User, Bot, Organization or Mannequin
	Suspended bool
	Deleted   bool
}

// Accounts are those that something is known of, by login in small letters.
type Accounts map[string]*Account

// Of gives an account. Of one that nothing is known of, the login says what it is: one that
// ends in [bot] is a Bot, others are a User.
func (all Accounts) Of(login string) Account {
	key := strings.ToLower(login)
	switch a := all[key]; {
	case a != nil:
		return *a
	case strings.HasSuffix(key, "[bot]"):
		return Account{Login: login, Kind: "Bot"}
	}
	return Account{Login: login, Kind: "User"}
}

// Change changes an account, and makes it known.
func (all Accounts) Change(login string, change func(*Account)) {
	a := all.Of(login)
	change(&a)
	all[strings.ToLower(login)] = &a
}

// UserID is the number of an account.
func UserID(login string) int64 {
	if login == "github-actions[bot]" {
		return 41898282
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // it cannot fail
	return int64(h.Sum32())
}

// Node is an id of the GraphQL API.
func Node(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08x", kind, id) }
