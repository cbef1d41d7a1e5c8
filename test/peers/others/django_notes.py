"""Django REST framework: notes as a ModelViewSet, for people with HTTP Basic, with its description."""
import sys
import tempfile

import django
from django.conf import settings

place = tempfile.mkdtemp()
settings.configure(
    SECRET_KEY="of a test", ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": place + "/notes.sqlite"}},
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "drf_spectacular"],
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.BasicAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.DjangoModelPermissions"],
        "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
        "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination", "PAGE_SIZE": 10,
    },
)
django.setup()

from django.contrib.auth.models import Permission, User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, models  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.urls import include, path  # noqa: E402
from drf_spectacular.views import SpectacularJSONAPIView  # noqa: E402
from rest_framework import serializers, viewsets  # noqa: E402
from rest_framework.permissions import AllowAny  # noqa: E402
from rest_framework.routers import DefaultRouter  # noqa: E402
from waitress import serve  # noqa: E402


class Note(models.Model):
    title = models.CharField(max_length=200)
    done = models.BooleanField(default=False)

    class Meta:
        app_label = "notes"


class NoteSerializer(serializers.ModelSerializer):
    class Meta:
        model = Note
        fields = ["id", "title", "done"]


class Notes(viewsets.ModelViewSet):
    queryset = Note.objects.order_by("id")
    serializer_class = NoteSerializer


router = DefaultRouter(trailing_slash=False)
router.register("notes", Notes)
urlpatterns = [
    path("openapi.json", SpectacularJSONAPIView.as_view(permission_classes=[AllowAny], authentication_classes=[])),
    path("", include(router.urls)),
]

call_command("migrate", verbosity=0)
with connection.schema_editor() as editor:
    editor.create_model(Note)
for title in ("First", "Second"):
    Note.objects.create(title=title)
kind = ContentType.objects.create(app_label="notes", model="note")
alice = User.objects.create_user("alice", password="alice-secret")
User.objects.create_user("bob", password="bob-secret")
alice.user_permissions.set(
    Permission.objects.create(codename=f"{verb}_note", name=verb, content_type=kind) for verb in ("add", "change", "delete", "view")
)
serve(get_wsgi_application(), host="127.0.0.1", port=int(sys.argv[1]), _quiet=True)
