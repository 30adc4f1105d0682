package kubernetes

// The types have the fields that the manifests use, and no others: a field that is misspelt is an error when a manifest
// is read into them. Names and nesting are those of core/v1, batch/v1 and kubeflow.org/v2beta1.

type meta struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

type head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   meta   `yaml:"metadata"`
}

type service struct {
	head `yaml:",inline"`
	Spec struct {
		ClusterIP                string            `yaml:"clusterIP"`
		PublishNotReadyAddresses bool              `yaml:"publishNotReadyAddresses"`
		Selector                 map[string]string `yaml:"selector"`
	} `yaml:"spec"`
}

type job struct {
	head `yaml:",inline"`
	Spec struct {
		CompletionMode string   `yaml:"completionMode"`
		Completions    int      `yaml:"completions"`
		Parallelism    int      `yaml:"parallelism"`
		BackoffLimit   *int     `yaml:"backoffLimit"`
		TTL            int      `yaml:"ttlSecondsAfterFinished"`
		Template       template `yaml:"template"`
	} `yaml:"spec"`
}

type mpiJob struct {
	head `yaml:",inline"`
	Spec struct {
		SlotsPerWorker         int    `yaml:"slotsPerWorker"`
		MPIImplementation      string `yaml:"mpiImplementation"`
		SSHAuthMountPath       string `yaml:"sshAuthMountPath"`
		LauncherCreationPolicy string `yaml:"launcherCreationPolicy"`
		RunPolicy              struct {
			CleanPodPolicy string `yaml:"cleanPodPolicy"`
			TTL            int    `yaml:"ttlSecondsAfterFinished"`
			BackoffLimit   *int   `yaml:"backoffLimit"`
		} `yaml:"runPolicy"`
		Replicas map[string]struct {
			Replicas int      `yaml:"replicas"`
			Template template `yaml:"template"`
		} `yaml:"mpiReplicaSpecs"`
	} `yaml:"spec"`
}

type template struct {
	Metadata meta `yaml:"metadata"`
	Spec     struct {
		Subdomain     string      `yaml:"subdomain"`
		RestartPolicy string      `yaml:"restartPolicy"`
		Containers    []container `yaml:"containers"`
	} `yaml:"spec"`
}

type container struct {
	Name            string   `yaml:"name"`
	Image           string   `yaml:"image"`
	ImagePullPolicy string   `yaml:"imagePullPolicy"`
	Command         []string `yaml:"command"`
	Env             []env    `yaml:"env"`
	Ports           []struct {
		ContainerPort int `yaml:"containerPort"`
	} `yaml:"ports"`
	SecurityContext struct {
		RunAsUser int `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	ReadinessProbe struct {
		TCPSocket struct {
			Port int `yaml:"port"`
		} `yaml:"tcpSocket"`
		PeriodSeconds int `yaml:"periodSeconds"`
	} `yaml:"readinessProbe"`
	Resources struct {
		Requests map[string]string `yaml:"requests"`
	} `yaml:"resources"`
}

type env struct {
	Name      string `yaml:"name"`
	Value     string `yaml:"value"`
	ValueFrom struct {
		FieldRef struct {
			FieldPath string `yaml:"fieldPath"`
		} `yaml:"fieldRef"`
		SecretKeyRef struct {
			Name string `yaml:"name"`
			Key  string `yaml:"key"`
		} `yaml:"secretKeyRef"`
	} `yaml:"valueFrom"`
}
