"""The jobs of docker/kubernetes without a cluster: Kubernetes' schemas take them, and the command line their arguments.

`samples/kubernetes-1.37.json.gz` holds the definitions that these kinds need, of the strict schemas that PyPI's
kubernetes-validate 1.37.0 (Apache License 2.0) brings, made of Kubernetes' own OpenAPI, without descriptions.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

import simulator
from simulator.cli.commands import cli

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / "docker" / "kubernetes"
SCHEMAS: Final = json.loads(
    gzip.decompress((Path(__file__).parent / "samples" / "kubernetes-1.37.json.gz").read_bytes())
)
DEFINITIONS: Final = {
    "ConfigMap": "io.k8s.api.core.v1.ConfigMap",
    "Job": "io.k8s.api.batch.v1.Job",
    "Role": "io.k8s.api.rbac.v1.Role",
    "RoleBinding": "io.k8s.api.rbac.v1.RoleBinding",
    "ServiceAccount": "io.k8s.api.core.v1.ServiceAccount",
}
FILES: Final = ("job", "spark")


def documents(name: str) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text("utf-8"))}


def container(name: str) -> dict[str, Any]:
    (only,) = documents(name)["Job"]["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def check(document: dict[str, Any]) -> None:
    jsonschema.validate(document, {**SCHEMAS, "$ref": f"#/$defs/{DEFINITIONS[document['kind']]}"})


@pytest.mark.parametrize("name", FILES)
def test_kubernetes_takes_the_file(name: str) -> None:
    for document in documents(name).values():
        check(document)


def test_a_misspelled_member_would_be_found() -> None:
    job = documents("job")["Job"]
    job["spec"]["template"]["spec"]["containers"][0]["arguments"] = []
    with pytest.raises(jsonschema.ValidationError, match="arguments"):
        check(job)


@pytest.mark.parametrize("name", FILES)
def test_the_command_takes_the_arguments(name: str) -> None:
    command, *arguments = container(name)["args"]
    given = cli.commands[command].make_context(command, list(arguments)).params
    assert given["engine"] == ("spark" if name == "spark" else "local")
    assert given["to"].startswith("kafka://")
    assert name == "spark" or given["workers"] == 4


@pytest.mark.parametrize("name", FILES)
def test_pods_are_no_root_and_run_once(name: str) -> None:
    spec = documents(name)["Job"]["spec"]
    pod = spec["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container(name)["securityContext"]["allowPrivilegeEscalation"] is False
    assert (spec["backoffLimit"], pod["restartPolicy"]) == (0, "Never")


def test_the_image_is_that_of_the_release_and_of_its_user() -> None:
    assert container("job")["image"] == f"ghcr.io/cdc-simulator/cdc-simulator:v{simulator.__version__}"
    image = (ROOT / "docker" / "Dockerfile").read_text("utf-8")
    user = documents("job")["Job"]["spec"]["template"]["spec"]["securityContext"]["runAsUser"]
    assert f"useradd --uid {user} " in image
    spark = container("spark")
    assert spark["image"].endswith(f":{simulator.__version__}")
    assert f"spark.kubernetes.container.image={spark['image']}" in spark["args"]


def test_what_a_pod_names_is_there(tmp_path: Path) -> None:
    """Its scenario, which is one, its volumes, its account, and the variables of its arguments."""
    job = documents("job")
    (key, text), *_ = job["ConfigMap"]["data"].items()
    assert container("job")["args"][1] == f"/scenario/{key}"
    (tmp_path / key).write_text(text, "utf-8")
    assert len(list(simulator.messages(tmp_path / key, "canal-json", limit=5))) == 5
    pod = job["Job"]["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container("job")["volumeMounts"]} == volumes.keys()
    assert volumes["scenario"]["configMap"]["name"] == job["ConfigMap"]["metadata"]["name"]
    (port,) = container("job")["ports"]
    annotations = job["Job"]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(port["containerPort"])
    assert f"0.0.0.0:{port['containerPort']}" in container("job")["args"]
    spark = documents("spark")
    account = spark["ServiceAccount"]["metadata"]["name"]
    assert spark["Job"]["spec"]["template"]["spec"]["serviceAccountName"] == account
    assert spark["RoleBinding"]["subjects"][0]["name"] == account
    assert spark["RoleBinding"]["roleRef"]["name"] == spark["Role"]["metadata"]["name"]
    used = set(re.findall(r"\$\((\w+)\)", " ".join(container("spark")["args"])))
    assert used == {variable["name"] for variable in container("spark")["env"]}
