package phases

import "testing"

func TestComplaint(t *testing.T) {
	for output, want := range map[string]string{
		"":                       "",
		"one\nno such package\n": "no such package",
		"error: subprocess-exited-with-error\n  x\nERROR: Failed to build wheel\nnote: This error originates from a subprocess\n": "ERROR: Failed to build wheel",
		"E: Unable to locate package x\r\nsee the log\n": "E: Unable to locate package x",
		"fatal: not a repository\nhint: make one\n":      "fatal: not a repository",
		"npm warn old\nnpm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/y\nnpm error 404\nnpm error 404  The requested resource 'y@1' could not be found\nnpm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log\n": "npm error 404 Not Found - GET https://registry.npmjs.org/y",
		"npm error code EUSAGE\nnpm error\nnpm error The `npm ci` command can only install with an existing package-lock.json or\nnpm error Options:\n":                                                                                                                   "npm error The `npm ci` command can only install with an existing package-lock.json or",
		"npm error code 3\nnpm error path /x\nnpm error command failed\nnpm error command sh -c node-gyp rebuild\nnpm error gyp\nnpm error A complete log of this run\n":                                                                                                  "npm error command sh -c node-gyp rebuild",
		"npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /x\nnpm ERR! errno -2\nnpm ERR! enoent Could not read package.json\nnpm ERR! A complete log\nmake: failed\n":                                                                                          "npm ERR! enoent Could not read package.json",
		"npm error code E1\nnpm error Missing script: \"x\"\nERROR: pip has failed\nnote\n":                                                                                                                                                                               "ERROR: pip has failed",
		"[INFO] BUILD FAILURE\n[ERROR] Plugin x could not be resolved: it could not be fetched\n[ERROR]\n[ERROR] To see the full stack trace\n[ERROR] [Help 1] http://help\n":                                                                                             "[ERROR] Plugin x could not be resolved: it could not be fetched",
		"[ERROR] COMPILATION ERROR :\n[ERROR] A.java:[1,2] ';' expected\n[ERROR] [Help 1] http://help\n":                                                                                                                                                                  "[ERROR] A.java:[1,2] ';' expected",
		"  error: subprocess-exited-with-error\n  ModuleNotFoundError: No module named 'x'\n  [end of output]\nerror: metadata-generation-failed\nhint: See above\n":                                                                                                      "ModuleNotFoundError: No module named 'x'",
		"error: externally-managed-environment\nnote: a note\n":                                    "error: externally-managed-environment",
		"ERROR: No matching distribution found for x\n\nreprise: it was refused hosts: pypi.org\n": "reprise: it was refused hosts: pypi.org",
		"npm error code E1\n":      "npm error code E1",
		"errors: 0\nall is well\n": "all is well",
	} {
		if got := complaint(output); got != want {
			t.Errorf("of %q: %q, want %q", output, got, want)
		}
	}
}
