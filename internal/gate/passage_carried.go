package gate

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// noPasswords gives an environment without passwords of proxies. Carried are the variables whose proxy a gate can ask
// in place of the program; lost, those of others.
func noPasswords(env []string) (out, carried, lost []string) {
	out = slices.Clone(env)
	strip := func(name string) (found, asked bool) {
		i := slices.IndexFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if i < 0 {
			return false, false
		}
		value := out[i][len(name)+1:]
		at := strings.LastIndexByte(value, '@')
		if at < 0 {
			return false, false
		}
		scheme, _, ok := strings.Cut(value, "://")
		if ok {
			scheme += "://"
		} else {
			scheme = ""
		}
		bare := value[at+1:]
		out[i] = name + "=" + scheme + bare
		scheme = cmp.Or(scheme, "http://") // as programs take it
		u, err := url.Parse(scheme + bare)
		return true, err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"} {
		found, asked := strip(name)
		switch {
		case !found:
		case asked && (!strings.EqualFold(name, "ALL_PROXY") || len(carried) > 0):
			carried = append(carried, name)
		default:
			lost = append(lost, name)
		}
	}
	return out, carried, lost
}
