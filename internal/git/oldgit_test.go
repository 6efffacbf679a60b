package git

import "testing"

func TestGitIsTooOldForLanes(t *testing.T) {
	for says, want := range map[string]bool{
		"git version 2.37.9\n": true, "git version 2.38.0\n": false, "git version 2.39.5 (Apple Git-154)\n": false, "git version 3.0\n": false, "git version 1.9\n": true,
	} {
		if err := tooOld(says); (err != nil) != want {
			t.Errorf("%s: %v", says, err)
		}
	}
}
