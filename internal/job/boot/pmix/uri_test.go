package pmix

import "testing"

func TestURI(t *testing.T) {
	for uri, want := range map[string]string{
		"1228996608.0;tcp4://127.0.0.1:58933":           "127.0.0.1:58933",
		"prterun-a-1@0.0;tcp4://10.0.0.1:7;/tmp/x;more": "10.0.0.1:7",
		"slurm.pmix.5.0.0;tcp6://fe80::1:58933":         "[fe80::1]:58933",
		"slurm.pmix.5.0.0;tcp6://[::1]:9":               "[::1]:9",
		"":                                              "",
		"x":                                             "",
		"x;y":                                           "",
		"x;usock:///tmp/pmix-5":                         "",
		"x;tcp4://node7:9":                              "",
		"x;tcp4://127.0.0.1:99999":                      "",
		"x;tcp6://:":                                    "",
		"x;tcp4://" + string([]byte{0xff}) + "127.0.0.1:58933": "",
	} {
		at, ok := parseURI(uri)
		if ok != (want != "") || ok && at.String() != want {
			t.Errorf("%q: %v, %v; want %q", uri, at, ok, want)
		}
	}
}

func FuzzURI(f *testing.F) {
	f.Add("1228996608.0;tcp4://127.0.0.1:58933")
	f.Add("n.0;tcp6://::1:7;z")
	f.Fuzz(func(t *testing.T, uri string) {
		if at, ok := parseURI(uri); ok != at.IsValid() {
			t.Errorf("%q: %v, %v", uri, at, ok)
		}
	})
}
