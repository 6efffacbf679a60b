package secrets

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writings are ways in which programs write a value.
func writings(v string) map[string]string {
	between := func(sep string) string { return strings.Join(strings.Split(v, ""), sep) }
	quoted, _ := json.Marshal(v) // a string always encodes
	b := []byte(v)
	return map[string]string{
		"plain":                v,
		"base64":               base64.StdEncoding.EncodeToString(b),
		"base64 of addresses":  base64.URLEncoding.EncodeToString(b),
		"base64 unpadded":      base64.RawStdEncoding.EncodeToString(b),
		"base64 one byte in":   base64.StdEncoding.EncodeToString([]byte("x" + v + "yz")),
		"base64 two bytes in":  base64.StdEncoding.EncodeToString([]byte("xy" + v + "z")),
		"base64 in a sentence": base64.StdEncoding.EncodeToString([]byte("the key is " + v + ", keep it")),
		"base64 in lines":      strings.Join(inPieces(base64.StdEncoding.EncodeToString([]byte("key="+v+"\n")), 10), "\n"),
		"base32":               base32.StdEncoding.EncodeToString([]byte("abc" + v)),
		"hex":                  hex.EncodeToString(b),
		"HEX":                  strings.ToUpper(hex.EncodeToString(b)),
		"hex dump":             strings.Join(inPieces(hex.EncodeToString(b), 2), " "),
		"address":              url.QueryEscape(v),
		"address, small":       lowerEscapes(url.QueryEscape(v)),
		"percent":              percent(v),
		"JSON":                 string(quoted),
		"JSON in JSON":         strings.ReplaceAll(string(quoted), `\`, `\\`),
		"signs as in JSON":     escapeSigns(v, `\u%04X`),
		"signs as in C":        escapeSigns(v, `\x%02x`),
		"C":                    `\x` + strings.Join(inPieces(hex.EncodeToString(b), 2), `\x`),
		"Go bytes":             "0x" + strings.Join(inPieces(hex.EncodeToString(b), 2), ", 0x"),
		"numbers":              strings.Trim(fmt.Sprint(b), "[]"),
		"C, large":             `\x` + strings.Join(inPieces(strings.ToUpper(hex.EncodeToString(b)), 2), `\x`),
		"Go bytes, large":      "0x" + strings.Join(inPieces(strings.ToUpper(hex.EncodeToString(b)), 2), ", 0x"),
		"HTML":                 "&#" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(b), "[]")), ";&#") + ";",
		"HTML, hex":            "&#x" + strings.Join(inPieces(strings.ToUpper(hex.EncodeToString(b)), 2), ";&#x") + ";",
		"all of JSON escaped":  `\u00` + strings.Join(inPieces(strings.ToUpper(hex.EncodeToString(b)), 2), `\u00`),
		"two bytes a letter":   between("\x00"),
		"base64 of such":       base64.StdEncoding.EncodeToString([]byte("x\x00" + between("\x00") + "\x00")),
		"base64 backwards":     backwards(base64.StdEncoding.EncodeToString([]byte("x" + v))),
		"backwards":            backwards(v),
		"spaces":               between(" "),
		"lines":                between("\n"),
		"quotes":               between(`","`),
		"added up":             strings.Join(inPieces(v, 7), `" + "`),
		"added up over lines":  strings.Join(inPieces(v, 7), "\" +\n\t\t\""),
		"in a diff":            strings.Join(inPieces(v, 9), "\n+"),
		"two lines in JSON":    strings.Join(inPieces(v, 9), `\n`),
	}
}

// escapeSigns escapes all that is no letter and no digit.
func escapeSigns(v, format string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if silent([]byte{c}) > 0 {
			fmt.Fprintf(&b, format, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// A value in a dump of a file is found, wherever its bytes begin in a line.
func TestAValueIsFoundInADump(t *testing.T) {
	const value = "canary-0123456789abcdef-Zz9-and-more"
	f := New(Secret{Name: "MODEL_KEY", Value: value})
	for lead := range 16 {
		data := []byte(strings.Repeat("x", lead) + value + "\nthe end of it\n")
		var xxd strings.Builder
		for at := 0; at < len(data); at += 16 {
			part := data[at:min(at+16, len(data))]
			fmt.Fprintf(&xxd, "%08x: %-39s  %s\n", at, strings.Join(inPieces(hex.EncodeToString(part), 4), " "), bytes.ReplaceAll(part, []byte("\n"), []byte(".")))
		}
		for how, text := range map[string]string{"xxd": xxd.String(), "hexdump -C": hex.Dump(data)} {
			if got := f.MaskKnown("a dump:\n" + text); !strings.Contains(got, "[MODEL_KEY]") || !strings.HasPrefix(got, "a dump:\n") {
				t.Errorf("%s, %d bytes in: not found in\n%s", how, lead, text)
			}
		}
	}
}

func inPieces(s string, n int) (out []string) {
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

func lowerEscapes(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '%' && i+2 < len(b) {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

func TestAValueIsFoundHoweverItIsWritten(t *testing.T) {
	for _, value := range []string{"canary-0123456789abcdef-Zz9", "sk-ant-very/secret+\"value\"==<&>", "Tr0ub4dor&3-correct/horse"} {
		f := New(Secret{Name: "MODEL_KEY", Value: value})
		for how, text := range writings(value) {
			for _, around := range [][2]string{{"", ""}, {"my notes: ", " and more\n"}, {"a = \"", "\"\n"}} {
				got := f.MaskKnown(around[0] + text + around[1])
				if !strings.Contains(got, "[MODEL_KEY]") {
					t.Errorf("%s, %s: %q is not found", value, how, text)
				} else if !strings.HasPrefix(got, around[0]) || !strings.HasSuffix(got, around[1]) {
					t.Errorf("%s, %s: too much is masked: %q", value, how, got)
				}
			}
		}
	}
}

func TestAShortValueIsFoundAsItIs(t *testing.T) {
	f := New(Secret{Name: "PASSWORD", Value: "hunter-22"}, Secret{Name: "PIN", Value: "1234"}, Secret{Name: "EMPTY"})
	got := f.MaskKnown("a hunter-22 b hunter 22 c aHVudGVyLTIy d 1234")
	if want := "a [PASSWORD] b hunter 22 c [PASSWORD] d 1234"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := fmt.Sprint(Short([]Secret{{"PASSWORD", "hunter-22"}, {"PIN", "1234"}, {"EMPTY", ""}})); got != "[PIN]" {
		t.Errorf("too short: %s", got)
	}
}

func TestALineOfAPrivateKeyIsFound(t *testing.T) {
	line := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	f := New(Secret{Name: "DEPLOY_KEY", Value: "-----BEGIN PRIVATE KEY-----\n" + line + "\nMzEf\n-----END PRIVATE KEY-----\n"})
	if got := f.MaskKnown("x " + line + " y"); got != "x [DEPLOY_KEY] y" {
		t.Errorf("got %q", got)
	}
	if got := f.MaskKnown("-----BEGIN PRIVATE KEY-----"); got != "-----BEGIN PRIVATE KEY-----" {
		t.Errorf("got %q", got)
	}
}

// What every service account has is no secret of this one.
func TestWhatIsSecretInTheJSONOfAServiceAccount(t *testing.T) {
	line := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	f := New(Secret{Name: "GCP_SA_KEY", Value: "{\n  \"type\": \"service_account\",\n  \"private_key\": \"" + line + "\",\n" +
		"  \"auth_uri\": \"https://accounts.google.com/o/oauth2/auth\",\n  \"universe_domain\": \"googleapis.com\"\n}"})
	if got := f.MaskKnown("x " + line + " y"); got != "x [GCP_SA_KEY] y" {
		t.Errorf("got %q", got)
	}
	packed := "{\"type\":\"service_account\",\"private_key\":\"-----BEGIN PRIVATE KEY-----\\n" + line + "\\nMzEf\\n-----END PRIVATE KEY-----\\n\"}"
	for _, value := range []string{packed, base64.StdEncoding.EncodeToString([]byte(packed))} { // as people put it into a variable
		if got := New(Secret{Name: "GCP_SA_KEY", Value: value}).MaskKnown("x " + line + " y"); got != "x [GCP_SA_KEY] y" {
			t.Errorf("of %s: got %q", value, got)
		}
	}
	public := "auth_uri: https://accounts.google.com/o/oauth2/auth\n\"universe_domain\": \"googleapis.com\", \"type\": \"service_account\""
	if got := f.MaskKnown(public); got != public {
		t.Errorf("got %q", got)
	}
}

func TestPlacesOfHits(t *testing.T) {
	text := []byte("one\ntwo canary-0123456789 \n\"canary-\" + \"0123456789\"")
	hits := New(Secret{Name: "K", Value: "canary-0123456789"}).Known(text)
	if len(hits) != 2 || hits[0].Line(text) != 2 || hits[0].Value(text) != "canary-0123456789" || hits[1].Line(text) != 3 || hits[1].Value(text) != `canary-" + "0123456789` {
		t.Errorf("hits %+v", hits)
	}
}

func TestMaskingLeavesNoneAndTouchesNothingElse(t *testing.T) {
	f := New(Secret{Name: "K", Value: "canary-0123456789abcdef"})
	rapid.Check(t, func(t *rapid.T) {
		var text, want strings.Builder
		for range rapid.IntRange(0, 5).Draw(t, "pieces") {
			filler := rapid.StringOf(rapid.RuneFrom([]rune("xyzé \n\"+\\n-"))).Draw(t, "filler") + "|"
			text.WriteString("z" + filler + "canary-0123456789abcdef|z")
			want.WriteString("z" + filler + "[K]|z")
		}
		if got := f.MaskKnown(text.String()); got != want.String() {
			t.Fatalf("%q: got %q", text.String(), got)
		}
	})
}

// pictures and other data have nothing of a value in them.
func TestNoiseHasNoHits(t *testing.T) {
	f := New(Secret{Name: "K", Value: "canary-0123456789abcdef"}, Secret{Name: "L", Value: "hunter22"})
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for _, text := range [][]byte{noise, []byte(base64.StdEncoding.EncodeToString(noise)), nil, {'x'}} {
		hits, err := f.Find(text)
		if err != nil || len(hits) > 0 {
			t.Errorf("%d bytes: hits %+v, error %v", len(text), hits, err)
		}
	}
}
