# The demo in a container:  docker build -t headrace . && docker run --rm headrace
# Your own scenario:        docker run --rm -u "$(id -u)" -v "$PWD:/work" headrace run stripe.yaml --report stripe.html
# Both stages are Debian; its own package of rustup brings the toolchain, since Debian's rustc is older than `rust-version`.

FROM debian:trixie-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends build-essential ca-certificates python3 python3-venv rustup \
 && rm -rf /var/lib/apt/lists/* \
 && rustup toolchain install stable --profile minimal
RUN python3 -m venv /opt/build && /opt/build/bin/pip install --no-cache-dir "maturin>=1.16,<2"
WORKDIR /source
COPY . .
RUN /opt/build/bin/maturin build --release --locked --out /dist

FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /dist /dist
RUN python3 -m venv /opt/headrace && /opt/headrace/bin/pip install --no-cache-dir /dist/*.whl && rm -r /dist \
 && useradd --create-home headrace
COPY examples /examples
ENV PATH=/opt/headrace/bin:$PATH
USER headrace
WORKDIR /work
ENTRYPOINT ["headrace"]
CMD ["run", "/examples/raid0-split-merge.yaml"]
