# The demo in a container:  docker build -t headrace . && docker run --rm headrace
# Your own scenario:        docker run --rm -u "$(id -u)" -v "$PWD:/work" headrace run stripe.yaml --report stripe.html

FROM rust:1-slim-trixie AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/build && /opt/build/bin/pip install --no-cache-dir "maturin>=1.16,<2"
WORKDIR /source
COPY . .
RUN /opt/build/bin/maturin build --release --locked --out /dist

FROM python:3.13-slim-trixie
COPY --from=build /dist /dist
RUN pip install --no-cache-dir /dist/*.whl && rm -r /dist && useradd --create-home headrace
COPY examples /examples
USER headrace
WORKDIR /work
ENTRYPOINT ["headrace"]
CMD ["run", "/examples/raid0-split-merge.yaml"]
