// Package kubernetes checks the manifests and the image of this directory: their fields are known, and they agree with
// each other. It needs no cluster. It is a module of its own, so that golci does not depend on a reader of YAML.
package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gopkg.in/yaml.v3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read reads the documents of a manifest, one into each of places.
func read(manifest []byte, places ...any) error {
	d := yaml.NewDecoder(bytes.NewReader(manifest))
	d.KnownFields(true)
	for i, p := range places {
		if err := d.Decode(p); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
	}
	if err := d.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows %d documents: %w", len(places), err)
	}
	return nil
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checks fails for each that does not hold.
func checks(t *testing.T, all map[string]bool) {
	t.Helper()
	for what, holds := range all {
		if !holds {
			t.Errorf("it does not hold: %s", what)
		}
	}
}

func (h *head) is(version, kind string) bool {
	return h.APIVersion == version && h.Kind == kind && h.Metadata.Name != ""
}

// TestJob: the service, the job and the four variables belong together.
func TestJob(t *testing.T) {
	var s service
	var j job
	if err := read(contents(t, "job.yaml"), &s, &j); err != nil {
		t.Fatal(err)
	}
	pod := &j.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := &pod.Containers[0]
	vars := map[string]env{}
	for _, e := range c.Env {
		vars[e.Name] = e
	}
	host, port, _ := strings.Cut(vars["GOLCI_ROOT"].Value, ":")
	checks(t, map[string]bool{
		"versions and kinds":                    s.is("v1", "Service") && j.is("batch/v1", "Job"),
		"the service has no address of its own": s.Spec.ClusterIP == "None",
		"names are there before pods are ready": s.Spec.PublishNotReadyAddresses,
		"the service selects the pods": s.Spec.Selector["batch.kubernetes.io/job-name"] == j.Metadata.Name &&
			len(s.Spec.Selector) == 1,
		"pods are named below the service": pod.Subdomain == s.Metadata.Name,
		"pods are numbered":                j.Spec.CompletionMode == "Indexed",
		"all ranks run at once":            j.Spec.Parallelism == j.Spec.Completions && j.Spec.Completions > 1,
		"no rank is replaced": j.Spec.BackoffLimit != nil && *j.Spec.BackoffLimit == 0 &&
			pod.RestartPolicy == "Never",
		"four variables": len(vars) == 4 && len(c.Env) == 4,
		"the rank is the number of the pod": vars["GOLCI_RANK"].ValueFrom.FieldRef.FieldPath ==
			"metadata.annotations['batch.kubernetes.io/job-completion-index']",
		"the size is the number of pods":          vars["GOLCI_SIZE"].Value == strconv.Itoa(j.Spec.Completions),
		"the root is the first pod":               host == j.Metadata.Name+"-0."+s.Metadata.Name,
		"the port of the root is the container's": len(c.Ports) == 1 && port == strconv.Itoa(c.Ports[0].ContainerPort),
		"the secret is one": vars["GOLCI_SECRET"].ValueFrom.SecretKeyRef.Name != "" &&
			vars["GOLCI_SECRET"].ValueFrom.SecretKeyRef.Key == "secret",
		"the secret is not in the manifest": vars["GOLCI_SECRET"].Value == "",
		"the comment makes that secret": strings.Contains(string(contents(t, "job.yaml")),
			"create secret generic "+vars["GOLCI_SECRET"].ValueFrom.SecretKeyRef.Name+" --from-literal=secret="),
		"the program is that of the image": len(c.Command) == 1 && inImage(t, c.Command[0]),
	})
}

// TestMPIJob: launcher, workers and the image's sshd belong together.
func TestMPIJob(t *testing.T) {
	var j mpiJob
	if err := read(contents(t, "mpijob.yaml"), &j); err != nil {
		t.Fatal(err)
	}
	launcher, worker := j.Spec.Replicas["Launcher"], j.Spec.Replicas["Worker"]
	if len(j.Spec.Replicas) != 2 || len(launcher.Template.Spec.Containers) != 1 ||
		len(worker.Template.Spec.Containers) != 1 {
		t.Fatalf("%+v", j.Spec.Replicas)
	}
	l, w := &launcher.Template.Spec.Containers[0], &worker.Template.Spec.Containers[0]
	sshd, ssh := string(contents(t, "sshd_config")), string(contents(t, "ssh_config"))
	port := len(w.Ports) == 1 && w.Ports[0].ContainerPort == w.ReadinessProbe.TCPSocket.Port &&
		strings.Contains(sshd, fmt.Sprintf("\nPort %d\n", w.Ports[0].ContainerPort)) &&
		strings.Contains(ssh, fmt.Sprintf("\n    Port %d\n", w.Ports[0].ContainerPort))
	run := strings.Join(l.Command, " ")
	checks(t, map[string]bool{
		"version and kind":                   j.is("kubeflow.org/v2beta1", "MPIJob"),
		"the operator knows the formats":     j.Spec.MPIImplementation == "OpenMPI" && j.Spec.SlotsPerWorker > 0,
		"the launcher waits for the workers": j.Spec.LauncherCreationPolicy == "WaitForWorkersReady",
		"no rank is replaced":                j.Spec.RunPolicy.BackoffLimit != nil && *j.Spec.RunPolicy.BackoffLimit == 0,
		"workers end with the launcher":      j.Spec.RunPolicy.CleanPodPolicy == "Running",
		"one launcher, several workers":      launcher.Replicas == 1 && worker.Replicas > 1,
		"one image":                          l.Image == w.Image && l.Image != "",
		"one port":                           port,
		"sshd is started as in the image":    strings.Join(w.Command, " ") == "/usr/sbin/sshd -De -f /mpi/.sshd_config",
		"the keys are where sshd looks":      strings.Contains(sshd, "\nHostKey "+j.Spec.SSHAuthMountPath+"/id_rsa\n"),
		"the user is the image's":            l.SecurityContext.RunAsUser == 1000 && w.SecurityContext.RunAsUser == 1000,
		"golci run takes the operator's file": strings.HasPrefix(run,
			"/usr/local/bin/golci run -hostfile /etc/mpi/hostfile -connect 2m -rsh ssh "),
		"ssh never asks":                       strings.Contains(run, "BatchMode=yes"),
		"the programs are those of the image":  inImage(t, l.Command[0]) && inImage(t, l.Command[len(l.Command)-1]),
		"the launcher needs less than workers": l.Resources.Requests["cpu"] != w.Resources.Requests["cpu"],
	})
}

// inImage tells whether the Dockerfile puts a program at a path.
func inImage(t *testing.T, path string) bool {
	t.Helper()
	text := string(contents(t, "Dockerfile"))
	name, ok := strings.CutPrefix(path, "/usr/local/bin/")
	return ok && strings.Contains(text, "-o /out/"+name+" ") &&
		strings.Contains(text, "COPY --from=build /out/golci /out/program /usr/local/bin/\n")
}

// TestReadIsStrict: what the other tests rely on.
func TestReadIsStrict(t *testing.T) {
	good := contents(t, "job.yaml")
	for name, change := range map[string][2]string{
		"a field that is misspelt": {"completionMode", "completionmode"},
		"a field at a wrong place": {"  parallelism: 4\n", "parallelism: 4\n"},
		"a number that is none":    {"completions: 4", "completions: four"},
		"one document":             {"---\n", ""},
	} {
		var s service
		var j job
		bad := bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(bad, good) {
			t.Errorf("%s: nothing changed", name)
		}
		if err := read(bad, &s, &j); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	var s service
	if err := read(good, &s); err == nil {
		t.Error("a second document is passed over")
	}
}
