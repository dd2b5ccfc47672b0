# One image for every stage; what a container runs is its command (`run segment`, `run sink`, `web`, …).
FROM python:3.11-slim AS build
WORKDIR /build
RUN python -m venv /opt/hermes
COPY requirements/runtime.lock requirements/runtime.lock
RUN /opt/hermes/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.lock
COPY . .
RUN /opt/hermes/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
COPY --from=build /opt/hermes /opt/hermes
# A number, so that a cluster can see that it is not root.
RUN useradd --create-home --uid 10001 hermes
USER 10001
WORKDIR /home/hermes
ENV PATH=/opt/hermes/bin:$PATH
ENTRYPOINT ["hermes-streams"]
