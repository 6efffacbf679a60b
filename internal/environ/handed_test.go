package environ

import (
	"slices"
	"strings"
	"testing"
)

// What is handed over is there under its names, and is a secret whatever it is called.
func TestUnpack(t *testing.T) {
	for _, text := range []string{`{"WORDS": "long-enough-1", "DATABASE_URL": "postgres://x:y@z/?a=b"}`} {
		env, err := Env{Environ: []string{"A=b", HandedOver + "=" + text}}.Unpack()
		if err != nil || len(env.Handed) != 2 || env.Getenv("WORDS") != "long-enough-1" || env.Getenv("DATABASE_URL") != "postgres://x:y@z/?a=b" || env.Getenv("A") != "b" {
			t.Errorf("%q: %q, %v", text, env.Environ, err)
		}
		if env.Getenv(HandedOver) != "" {
			t.Error("the variable that had them all is left")
		}
		if said := env.Finder().Mask("the word long-enough-1 is at postgres://x:y@z/?a=b"); strings.Contains(said, "long") || strings.Contains(said, "@z") {
			t.Errorf("it can be read in %q", said)
		}
	}
	if env, err := (Env{Environ: []string{HandedOver + "="}}).Unpack(); err != nil || len(env.Environ) > 0 {
		t.Errorf("of an empty one there is %q, %v", env.Environ, err)
	}
}

// All mistakes are named at once, without what is secret, and nothing is taken then.
func TestUnpackMistakes(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{`{"GOOD": "hush-hush", "lower": "hush-hush", "PATH": "hush-hush", "GITHUB_TOKEN": "hush-hush", "SET": "hush-hush"}`, []string{
			"a name is not that of a variable", "PATH is a name that", "GITHUB_TOKEN is a name that", "SET is set already",
		}},
		{"GOOD=hush-hush", []string{`is no object of JSON with texts, such as {"NAME": "value"}`}},
		{`{"GOOD": {"a": "hush-hush"}}`, []string{"no object of JSON with texts"}},
		{`{"GOOD": "hush-hush"`, []string{"no object of JSON with texts"}},
		{`{"GOOD": "hush-hush\u0000"}`, []string{"GOOD has a zero byte"}},
	} {
		env, err := Env{Environ: []string{"SET=before", HandedOver + "=" + tt.text}}.Unpack()
		if err == nil || strings.Contains(err.Error(), "hush") || len(env.Handed) > 0 || !slices.Equal(env.Environ, []string{"SET=before"}) {
			t.Fatalf("%q: %v, %q", tt.text, err, env.Environ)
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
	}
}

// What a value was cut into is not shown, and a variable that is there and empty gives way.
func TestUnpackShowsNoValue(t *testing.T) {
	for _, text := range []string{"MIIEvQIBADANBgkqhkiG9w0BAQ+EFAASC==", `{"MIIEvQIBADANBgkqhkiG9w0BAQ+EFAASC": "x"}`} {
		if _, err := (Env{Environ: []string{HandedOver + "=" + text}}).Unpack(); err == nil || strings.Contains(err.Error(), "MIIEvQ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	e, err := Env{Environ: []string{"TOOL_KEY=", HandedOver + `={"TOOL_KEY": "abcdefgh"}`}}.Unpack()
	if err != nil || e.Getenv("TOOL_KEY") != "abcdefgh" || slices.Contains(e.Environ, "TOOL_KEY=") {
		t.Errorf("%q, %v", e.Environ, err)
	}
}

// A switch to another cloud that does not say yes is no switch: the program stays where its key is kept outside.
func TestWithoutOff(t *testing.T) {
	on := []string{"A=0", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CODE_USE_VERTEX= True ", "GOOGLE_GENAI_USE_VERTEXAI=yes"}
	off := []string{"CLAUDE_CODE_USE_BEDROCK=0", "CLAUDE_CODE_USE_VERTEX=false", "GOOGLE_GENAI_USE_GCA=", "CLAUDE_CODE_USE_FOUNDRY=maybe"}
	if got := WithoutOff(slices.Concat(off, on)); !slices.Equal(got, on) {
		t.Errorf("%q", got)
	}
}
