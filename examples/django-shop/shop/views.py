"""Buying: the order, the stock and the work that follows, in one transaction."""

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.http import HttpRequest, JsonResponse
from django.urls import path

from hourhand import Client
from shop.models import Order, Product

client = Client(settings.STORE).sync


def buy(_request: HttpRequest, name: str) -> JsonResponse:
    """Take one from the stock, which the database does not let fall below 0, and have the order packed."""
    try:
        with transaction.atomic():
            order = Order.objects.create(product=Product.objects.get(name=name))
            packing = client.submit("pack", {"order": order.id}, conn=connection)
            Product.objects.filter(name=name).update(stock=F("stock") - 1)
    except IntegrityError:
        return JsonResponse({"error": f"{name} is sold out"}, status=409)
    return JsonResponse({"order": order.id, "instance": packing.id}, status=201)


urlpatterns = [path("buy/<str:name>", buy)]
